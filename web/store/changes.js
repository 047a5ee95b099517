// A save is a list of changes. This is what they mean, and how to find those between two transcripts.

/** @import { Change, CompactionState } from '../session/types.js' */

/** A message and the name it is stored under. @typedef {{ id: string, message: object }} Entry */

/** A chat as a store holds it. @typedef {{ entries: readonly Entry[], state: CompactionState | null }} StoredChat */

/**
 * The chat after the changes. Unknown ids are no errors: a put appends, the others do nothing.
 * @param {StoredChat} chat not changed
 * @param {readonly Change[]} changes
 * @returns {StoredChat}
 */
export function applyChanges(chat, changes) {
  let entries = [...chat.entries];
  let { state } = chat;
  for (const change of changes) {
    switch (change.type) {
      case 'put': {
        const index = entries.findIndex(({ id }) => id === change.id);
        const entry = { id: change.id, message: change.message };
        if (index === -1) entries.push(entry);
        else entries[index] = entry;
        break;
      }
      case 'remove':
        entries = entries.filter(({ id }) => id !== change.id);
        break;
      case 'truncateAfter': {
        const index = entries.findIndex(({ id }) => id === change.id);
        if (change.id === null) entries = [];
        else if (index !== -1) entries.length = index + 1;
        break;
      }
      case 'state':
        state = change.state;
        break;
      default:
        throw new TypeError(`a change of a chat is put, remove, truncateAfter or state, not ${JSON.stringify(/** @type {{ type: unknown }} */ (change).type)}`);
    }
  }
  return { entries, state };
}

/**
 * The changes that make `after` of `before`: puts in place where the names are the same, one truncation, and puts
 * behind it; removals one by one where nothing stays. Messages are compared as objects.
 * @param {readonly Entry[]} before
 * @param {readonly Entry[]} after names are unique
 * @returns {Change[]}
 */
export function diffEntries(before, after) {
  /** @type {Change[]} */
  const changes = [];
  let same = 0;
  while (same < before.length && same < after.length && before[same].id === after[same].id) {
    if (before[same].message !== after[same].message) changes.push({ type: 'put', ...after[same] });
    same++;
  }
  if (same < before.length) {
    if (same > 0) changes.push({ type: 'truncateAfter', id: after[same - 1].id });
    else changes.push(...before.map(({ id }) => /** @type {Change} */ ({ type: 'remove', id })));
  }
  changes.push(...after.slice(same).map((entry) => /** @type {Change} */ ({ type: 'put', ...entry })));
  return changes;
}
