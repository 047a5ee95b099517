/**
 * Every error Tamp throws on purpose. Each has a `code` for programs and a message that says what to do.
 */

/** The base of Tamp's errors. */
export class TampError extends Error {
  /**
   * @param {string} code one word or two with hyphens, stable across versions
   * @param {string} message
   * @param {ErrorOptions} [options]
   */
  constructor(code, message, options) {
    super(message, options);
    this.name = 'TampError';
    /** @type {string} */
    this.code = code;
  }
}

/**
 * One thing that is wrong with a policy.
 * @typedef {object} PolicyProblem
 * @property {string} path JSON Pointer into the policy, e.g. "/0/keepMessages"
 * @property {string} code `unknown-strategy`, `unknown-key`, `wrong-type`, `not-integer`, `out-of-range`, `missing`,
 *   `conflict` or `empty`
 * @property {string} message a sentence with the numbers in it
 */

/** A policy with problems: all of them at once. */
export class PolicyError extends TampError {
  /** @param {PolicyProblem[]} problems at least one */
  constructor(problems) {
    const [first] = problems;
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more: see error.problems)` : '';
    super('bad-policy', `The policy cannot be used: ${first.path || 'the policy'}: ${first.message}${more}`);
    this.name = 'PolicyError';
    /** @type {PolicyProblem[]} */
    this.problems = problems;
  }
}

/** A list with something in it that is not a message, or a text that is not a list of messages. */
export class MessageError extends TampError {
  /**
   * @param {string} code
   * @param {string} message
   * @param {number} index of the message; -1 when it is about the list as a whole
   * @param {number} [offset] bytes from the start of the text, where there is one
   * @param {ErrorOptions} [options]
   */
  constructor(code, message, index, offset, options) {
    super(code, message, options);
    this.name = 'MessageError';
    /** @type {number} */
    this.index = index;
    /** @type {number | undefined} */
    this.offset = offset;
  }
}
