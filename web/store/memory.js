// Chats in memory: for Node, for tests, and for pages that keep nothing.
import { copy } from '../session/copy.js';
import { applyChanges } from './changes.js';

/** @import { Change, SessionStore } from '../session/types.js' */
/** @import { StoredChat } from './changes.js' */

/**
 * A store that lasts as long as the object. What goes in and comes out is copied: nobody changes a saved record.
 * @returns {SessionStore}
 */
export function memoryStore() {
  /** @type {Map<string, StoredChat>} */
  const chats = new Map();
  return {
    async load(chatId) {
      const chat = chats.get(chatId);
      return chat === undefined ? null : { messages: chat.entries.map(({ message }) => copy(message)), state: copy(chat.state) };
    },
    async save(chatId, changes) {
      chats.set(chatId, applyChanges(chats.get(chatId) ?? { entries: [], state: null }, copy(/** @type {Change[]} */ (changes))));
    },
    async remove(chatId) {
      chats.delete(chatId);
    },
    async list() {
      return [...chats.keys()];
    },
  };
}
