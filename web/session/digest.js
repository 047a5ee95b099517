// The digest of a list of messages, made in C over their canonical JSON (src/digest.h): independent of the order
// of members and of how text is escaped; `metadata` of a message is left out.

/** @import { Tamp } from '../index.js' */

/**
 * @param {Tamp} tamp
 * @param {readonly object[]} messages of any format
 * @returns {string} 32 hexadecimal digits
 */
export function digestMessages(tamp, messages) {
  return tamp.bridge.digest(messages);
}
