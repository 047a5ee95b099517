/**
 * Errors that cross from a worker: what a structured clone loses is carried beside it.
 */
import { MessageError, PolicyError, TampError } from '../errors.js';

/** @param {unknown} error */
export function pack(error) {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message, stack, code, problems, index, offset } = /** @type {any} */ (error);
  return { name, message, stack, code, problems, index, offset };
}

/** @param {any} packed @returns {Error} */
export function unpack({ name, message, code, problems, index, offset }) {
  if (problems) return new PolicyError(problems);
  if (index !== undefined) return new MessageError(code, message, index, offset);
  if (typeof code === 'string') return new TampError(code, message);
  return name === 'NotReadableError' || name === 'NotFoundError' || name === 'AbortError' ? new DOMException(message, name) : Object.assign(new Error(message), { name });
}
