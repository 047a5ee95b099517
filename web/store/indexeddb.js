// Chats in IndexedDB.
//
//   messages   {chat, seq, id, message}   key [chat, seq]: a chat's messages in order, read in one request;
//                                         index `id` on [chat, id]: where a message is
//   chats      {chat, v, state}           key chat
//   aside      {chat, why, record}        records that could not be read: kept for whoever can, never loaded
//
// A save is one transaction, so it is whole or not at all, also when the page is killed in the middle. Two pages may
// have the same chat open: puts of one never overwrite those of the other, and a truncation removes only what the
// page that asks for it has seen.
import { TampError } from '../errors.js';
import { parseState } from '../session/state.js';

/** @import { DBSchema, IDBPDatabase, IDBPTransaction, StoreNames } from 'idb' */
/** @import { Change, CompactionState, SessionStore } from '../session/types.js' */

/** @typedef {{ chat: string, seq: number, id: string, message: object }} MessageRecord */
/** @typedef {{ chat: string, v: number, state: CompactionState | null }} ChatRecord */

/**
 * @typedef {object} Schema
 * @property {{ key: [string, number], value: MessageRecord, indexes: { id: [string, string] } }} messages
 * @property {{ key: string, value: ChatRecord }} chats
 * @property {{ key: number, value: { chat: string, why: string, record: unknown }, indexes: { chat: string } }} aside
 */

/** @typedef {IDBPDatabase<DBSchema & Schema>} Database */
/** @typedef {IDBPTransaction<DBSchema & Schema, StoreNames<DBSchema & Schema>[], 'readwrite'>} Writing */

/** Version of the records. */
const RECORD_VERSION = 1;

/**
 * How a database of the version before each one becomes the next: the first makes an empty one version 1. Versions
 * are only ever added here.
 * @type {((database: Database, transaction: IDBPTransaction<DBSchema & Schema, StoreNames<DBSchema & Schema>[], 'versionchange'>) => void)[]}
 */
const MIGRATIONS = [
  (database) => {
    database.createObjectStore('messages', { keyPath: ['chat', 'seq'] }).createIndex('id', ['chat', 'id'], { unique: true });
    database.createObjectStore('chats', { keyPath: 'chat' });
    database.createObjectStore('aside', { autoIncrement: true }).createIndex('chat', 'chat');
  },
];

/** All messages of a chat, in order. @param {string} chat @param {number} [after] */
const rangeOf = (chat, after = -1) => IDBKeyRange.bound([chat, after], [chat, Infinity], true, false);

/** @param {unknown} record @returns {record is MessageRecord} */
function isMessageRecord(record) {
  const { id, message } = /** @type {MessageRecord} */ (record);
  return typeof id === 'string' && typeof message === 'object' && message !== null && !Array.isArray(message);
}

/** @param {unknown} error @param {string} name */
const isNamed = (error, name) => error instanceof Error && error.name === name;

/** What one page knows of one chat. */
class Known {
  /** All up to here was there when the chat was loaded. */
  loaded = -1;
  /** What this page put since. @type {Set<number>} */
  own = new Set();

  /** @param {number} seq */
  has(seq) {
    return seq <= this.loaded || this.own.has(seq);
  }
}

class IndexedDBStore {
  #name;
  /** @type {Promise<Database> | null} */ #opening = null;
  /** @type {Map<string, Known>} */ #known = new Map();

  /** @param {string} name */
  constructor(name) {
    this.#name = name;
  }

  /** @param {string} chatId @returns {Promise<{ messages: object[], state: CompactionState | null } | null>} */
  async load(chatId) {
    const database = await this.#database();
    const transaction = database.transaction(['chats', 'messages']);
    const [chat, records, keys] = await Promise.all([
      transaction.objectStore('chats').get(chatId),
      transaction.objectStore('messages').getAll(rangeOf(chatId)),
      transaction.objectStore('messages').getAllKeys(rangeOf(chatId)),
      transaction.done,
    ]);
    if (chat === undefined && records.length === 0) return null;
    const known = this.#knownOf(chatId);
    known.loaded = Math.max(known.loaded, keys.at(-1)?.[1] ?? -1);
    const good = records.filter(isMessageRecord);
    const state = chat === undefined ? null : parseState(chat.state);
    const badState = chat !== undefined && state === null && chat.state !== null;
    if (good.length < records.length || badState) await this.#setAside(chatId, badState ? chat : null);
    return { messages: good.map(({ message }) => message), state };
  }

  /** @param {string} chatId @param {object[]} changes */
  async save(chatId, changes) {
    const list = /** @type {Change[]} */ (changes);
    if (list.length === 0) return;
    const database = await this.#database();
    try {
      await this.#locked(chatId, async () => {
        const transaction = database.transaction(['chats', 'messages'], 'readwrite', { durability: 'strict' });
        // An abort rejects `done`, whatever else is awaited then.
        const done = transaction.done.catch((error) => {
          throw error ?? transaction.error;
        });
        done.catch(() => undefined);
        const put = /** @type {number[]} */ ([]);
        try {
          await this.#apply(transaction, chatId, list, put);
        } catch (error) {
          try {
            transaction.abort();
          } catch {
            // It is over already, and `done` says why.
          }
          await done.catch(() => undefined);
          throw transaction.error ?? error;
        }
        await done;
        for (const seq of put) this.#knownOf(chatId).own.add(seq);
      });
    } catch (error) {
      throw await this.#explain(error, chatId, list);
    }
  }

  /** @param {string} chatId */
  async remove(chatId) {
    const database = await this.#database();
    await this.#locked(chatId, async () => {
      const transaction = database.transaction(['chats', 'messages', 'aside'], 'readwrite');
      const aside = transaction.objectStore('aside');
      await Promise.all([
        transaction.objectStore('chats').delete(chatId),
        transaction.objectStore('messages').delete(rangeOf(chatId)),
        aside.index('chat').getAllKeys(chatId).then((keys) => Promise.all(keys.map((key) => aside.delete(key)))),
        transaction.done,
      ]);
    });
    this.#known.delete(chatId);
  }

  /** @returns {Promise<string[]>} */
  async list() {
    return (await this.#database()).getAllKeys('chats');
  }

  // ── inside ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** @param {string} chatId */
  #knownOf(chatId) {
    let known = this.#known.get(chatId);
    if (known === undefined) this.#known.set(chatId, known = new Known());
    return known;
  }

  /** The open database; opened anew after another page upgraded it or the browser closed it. */
  #database() {
    this.#opening ??= this.#open().catch((error) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  /** @returns {Promise<Database>} */
  async #open() {
    if (typeof indexedDB === 'undefined') {
      throw new TampError('no-indexeddb', 'There is no IndexedDB here: use memoryStore(), or a store of your own.');
    }
    // Loaded here, so that memoryStore needs no package.
    const { openDB } = await import('idb').catch((error) => {
      throw new TampError('no-idb', 'indexedDBStore needs the package "idb": npm install idb. In a page without a bundler, name it in an import map.', { cause: error });
    });
    const forget = () => {
      this.#opening = null;
    };
    try {
      /** @type {Database} */
      const database = await openDB(this.#name, MIGRATIONS.length, {
        upgrade(opened, from, _to, transaction) {
          for (const migrate of MIGRATIONS.slice(from)) migrate(opened, transaction);
        },
        // A page with a newer version of this code wants to upgrade: it must not wait for this one.
        blocking() {
          database.close();
          forget();
        },
        terminated: forget,
      });
      return database;
    } catch (error) {
      if (!isNamed(error, 'VersionError')) throw error;
      throw new TampError('newer-version', `The database ${JSON.stringify(this.#name)} was made by a newer version of Tamp. Reload the page to get that version; nothing was changed.`, { cause: error });
    }
  }

  /**
   * Runs alone among all pages of this origin, as far as this chat goes.
   * @param {string} chatId @param {() => Promise<void>} run
   * @returns {Promise<void>}
   */
  async #locked(chatId, run) {
    const locks = globalThis.navigator?.locks;
    await (locks === undefined ? run() : locks.request(`tamp:${this.#name}:${chatId}`, run));
  }

  /**
   * @param {Writing} transaction @param {string} chat @param {readonly Change[]} changes
   * @param {number[]} put gets the places of what was put
   */
  async #apply(transaction, chat, changes, put) {
    const messages = transaction.objectStore('messages');
    const chats = transaction.objectStore('chats');
    const last = await messages.openKeyCursor(rangeOf(chat), 'prev');
    let seq = /** @type {[string, number] | undefined} */ (last?.primaryKey)?.[1] ?? -1;
    const fresh = seq === -1;
    const placed = /** @type {Map<string, number>} */ (new Map());
    /** Where a message is, null when it is not there. @param {string} id */
    const find = async (id) => placed.get(id) ?? (fresh ? null : (await messages.index('id').getKey([chat, id]))?.[1] ?? null);
    let state = /** @type {CompactionState | null | undefined} */ (undefined);
    for (const change of changes) {
      switch (change.type) {
        case 'put': {
          const place = await find(change.id) ?? ++seq;
          placed.set(change.id, place);
          put.push(place);
          await messages.put({ chat, seq: place, id: change.id, message: change.message });
          break;
        }
        case 'remove': {
          const place = await find(change.id);
          if (place !== null) await messages.delete([chat, place]);
          placed.delete(change.id);
          break;
        }
        case 'truncateAfter': {
          const place = change.id === null ? -1 : await find(change.id);
          if (place !== null) await this.#truncate(transaction, chat, place, put, placed);
          break;
        }
        case 'state':
          state = change.state;
          break;
        default:
          throw new TypeError(`a change of a chat is put, remove, truncateAfter or state, not ${JSON.stringify(/** @type {{ type: unknown }} */ (change).type)}`);
      }
    }
    if (state !== undefined || await chats.getKey(chat) === undefined) {
      await chats.put({ chat, v: RECORD_VERSION, state: state ?? null });
    }
  }

  /**
   * Removes what stands after `place`, but not what another page has put there meanwhile.
   * @param {Writing} transaction @param {string} chat @param {number} place @param {readonly number[]} put
   * @param {Map<string, number>} placed
   */
  async #truncate(transaction, chat, place, put, placed) {
    const messages = transaction.objectStore('messages');
    const known = this.#knownOf(chat);
    const gone = /** @type {Set<number>} */ (new Set());
    for (const key of await messages.getAllKeys(rangeOf(chat, place))) {
      const [, seq] = key;
      if (!known.has(seq) && !put.includes(seq)) continue;
      gone.add(seq);
      await messages.delete(key);
    }
    for (const [id, seq] of placed) if (gone.has(seq)) placed.delete(id);
  }

  /** Moves records that cannot be read to where nobody reads them. @param {string} chat @param {ChatRecord | null} record of the chat, when its state is bad */
  async #setAside(chat, record) {
    const database = await this.#database();
    await this.#locked(chat, async () => {
      const transaction = database.transaction(['chats', 'messages', 'aside'], 'readwrite');
      const aside = transaction.objectStore('aside');
      let cursor = await transaction.objectStore('messages').openCursor(rangeOf(chat));
      while (cursor !== null) {
        if (!isMessageRecord(cursor.value)) {
          await aside.add({ chat, why: 'not a message', record: cursor.value });
          await cursor.delete();
        }
        cursor = await cursor.continue();
      }
      if (record !== null) {
        await aside.add({ chat, why: 'not a state of this version', record });
        await transaction.objectStore('chats').put({ chat, v: RECORD_VERSION, state: null });
      }
      await transaction.done;
    });
  }

  /** What went wrong with a save, and what is safe. @param {unknown} error @param {string} chat @param {readonly Change[]} changes */
  async #explain(error, chat, changes) {
    const lost = changes.length === 1 ? '1 change was' : `${changes.length} changes were`;
    if (isNamed(error, 'QuotaExceededError')) {
      const safe = await (await this.#database()).count('messages', rangeOf(chat)).catch(() => null);
      const kept = safe === null ? 'what was saved before' : `the ${safe} messages saved before`;
      return new TampError('quota-exceeded', `The browser has no room left for chat ${JSON.stringify(chat)}: ${lost} not saved, ${kept} are safe. Remove chats or free disk space, then save again.`, { cause: error });
    }
    if (isNamed(error, 'DataCloneError')) {
      return new TampError('not-storable', `A message of chat ${JSON.stringify(chat)} holds something that cannot be stored (a function, a URL object): ${lost} not saved.`, { cause: error });
    }
    return error;
  }
}

/**
 * Chats in IndexedDB, one database for all of them. One transaction a save, acknowledged when it is on disk; safe
 * with the same chat open in two pages; records that cannot be read are set aside, not deleted. Needs the package
 * `idb`.
 * @param {{ name?: string }} [options] `name` of the database, default "tamp"
 * @returns {SessionStore} its promises reject with a TampError: `quota-exceeded` (what was saved before is safe),
 *   `not-storable`, `newer-version`, `no-indexeddb`, `no-idb`; or with what IndexedDB gave
 */
export function indexedDBStore({ name = 'tamp' } = {}) {
  const store = new IndexedDBStore(name);
  return {
    load: (chatId) => store.load(chatId),
    save: (chatId, changes) => store.save(chatId, changes),
    remove: (chatId) => store.remove(chatId),
    list: () => store.list(),
  };
}
