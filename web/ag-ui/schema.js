// The content of a notice as a Standard Schema, for those who validate with one.
import { isCount, isObject, readContent } from './notice.js';

/** @import { CompactionContent } from './types.js' */

/**
 * @param {unknown} value
 * @returns {{ value: CompactionContent } | { issues: { message: string, path: string[] }[] }}
 */
function validate(value) {
  const content = readContent(value);
  if (content !== null) return { value: content };
  if (!isObject(value)) return { issues: [{ message: 'The content is not an object', path: [] }] };
  const issues = ['before', 'after', 'removed']
    .filter((field) => !isCount(value[field]) && (field !== 'removed' || value[field] !== undefined))
    .map((field) => ({ message: `${field} is not an integer of at least 0`, path: [field] }));
  return {
    issues: issues.length > 0 ? issues : [{ message: 'removed is missing, and after is above before', path: ['removed'] }],
  };
}

/**
 * Standard Schema v1 of the content, validating synchronously: for CopilotKit's `renderActivityMessages`.
 * @type {{ readonly '~standard': { readonly version: 1, readonly vendor: string, validate(value: unknown):
 *   { value: CompactionContent } | { issues: readonly { message: string }[] } } }}
 */
export const compactionContentSchema = Object.freeze({
  '~standard': Object.freeze({ version: 1, vendor: 'tamp', validate }),
});
