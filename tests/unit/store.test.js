import 'fake-indexeddb/auto';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import '../lib/seed.js';
import { openDB } from 'idb';
import { TampError } from 'tamp';
import { indexedDBStore, memoryStore } from 'tamp/store';
import { applyChanges, diffEntries } from '../../web/store/changes.js';

const put = (id, more) => ({ type: 'put', id, message: { id, role: 'user', content: id, ...more } });
const state = { v: 1, summary: 'S', throughId: 'a', covered: 1, digest: '0', source: 'outer', createdAt: 1, tokensBefore: 9, tokensAfter: 1, generation: 1 };
const ids = async (store, chat = 'c') => (await store.load(chat))?.messages.map(({ id }) => id);

let databases = 0;
const name = () => `test-${databases++}`;

for (const [kind, make] of [['memoryStore', memoryStore], ['indexedDBStore', () => indexedDBStore({ name: name() })]]) {
  describe(kind, () => {
    test('gives back what was saved, in order, and null for a chat that is not there', async () => {
      const store = make();
      assert.equal(await store.load('c'), null);
      await store.save('c', [put('a'), put('b', { metadata: { x: [1, null, 'é'] } }), { type: 'state', state }]);
      assert.deepEqual(await store.load('c'), { messages: [put('a').message, put('b', { metadata: { x: [1, null, 'é'] } }).message], state });
      await store.save('d', [put('a')]);
      assert.deepEqual((await store.list()).sort(), ['c', 'd']);
      await store.remove('c');
      assert.equal(await store.load('c'), null);
      assert.deepEqual(await store.list(), ['d']);
      assert.deepEqual(await ids(store, 'd'), ['a']);
    });

    test('replaces in place, removes, truncates, and takes unknown ids calmly', async () => {
      const store = make();
      await store.save('c', [put('a'), put('b'), put('c')]);
      await store.save('c', [put('b', { content: 'other' }), { type: 'remove', id: 'x' }, { type: 'truncateAfter', id: 'x' }]);
      assert.deepEqual((await store.load('c'))?.messages.map(({ content }) => content), ['a', 'other', 'c']);
      await store.save('c', [{ type: 'remove', id: 'a' }, put('d'), { type: 'truncateAfter', id: 'c' }, put('e')]);
      assert.deepEqual(await ids(store), ['b', 'c', 'e']);
      await store.save('c', [{ type: 'truncateAfter', id: null }]);
      assert.deepEqual(await store.load('c'), { messages: [], state: null });
    });

    test('clears a state with null and keeps it when no change names it', async () => {
      const store = make();
      await store.save('c', [put('a'), { type: 'state', state }]);
      await store.save('c', [put('b')]);
      assert.deepEqual((await store.load('c'))?.state, state);
      await store.save('c', [{ type: 'state', state: null }]);
      assert.equal((await store.load('c'))?.state, null);
    });

    test('holds copies: nobody changes what was saved', async () => {
      const store = make();
      const change = put('a');
      await store.save('c', [change]);
      change.message.content = 'spoilt';
      const loaded = await store.load('c');
      loaded.messages[0].content = 'spoilt too';
      assert.equal((await store.load('c'))?.messages[0].content, 'a');
    });

    test('a save with a change that is none is refused whole', async () => {
      const store = make();
      await store.save('c', [put('a')]);
      await assert.rejects(store.save('c', [put('b'), { type: 'move', id: 'a' }]), TypeError);
      assert.deepEqual(await ids(store), ['a']);
    });

    test('does what the pure reducer does, for any changes, also when they are applied twice', async () => {
      const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
      const change = fc.oneof(
        fc.tuple(id, fc.nat()).map(([of, n]) => put(of, { n })),
        id.map((of) => ({ type: 'remove', id: of })),
        fc.option(id).map((of) => ({ type: 'truncateAfter', id: of })),
        fc.option(fc.constant(state)).map((value) => ({ type: 'state', state: value })),
      );
      await fc.assert(fc.asyncProperty(fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 5 }), async (saves) => {
        const store = make();
        let expected = { entries: [], state: null };
        for (const changes of saves) {
          await store.save('c', changes);
          expected = applyChanges(expected, changes);
        }
        const loaded = await store.load('c') ?? { messages: [], state: null };
        assert.deepEqual(loaded.messages, expected.entries.map(({ message }) => message));
        assert.deepEqual(loaded.state, expected.state);
      }), { numRuns: kind === 'memoryStore' ? 300 : 60, seed: 5 });
    });
  });
}

test('the changes between any two transcripts make the one of the other', () => {
  const transcript = fc.uniqueArray(fc.record({ id: fc.constantFrom(...'abcdefgh'), n: fc.nat(1) }), { selector: ({ id }) => id })
    .map((messages) => messages.map((message) => ({ id: message.id, message })));
  fc.assert(fc.property(transcript, transcript, (before, after) => {
    const changes = diffEntries(before, after);
    assert.deepEqual(applyChanges({ entries: before, state: null }, changes).entries, after);
  }), { numRuns: 2000, seed: 5 });
});

describe('indexedDBStore, in particular,', () => {
  test('keeps what another page put meanwhile, whatever this one truncates', async () => {
    const database = name();
    const [mine, yours] = [indexedDBStore({ name: database }), indexedDBStore({ name: database })];
    await mine.save('c', [put('a'), put('b')]);
    await yours.load('c');
    await yours.save('c', [put('y1')]);
    await mine.save('c', [put('m1')]);
    await yours.save('c', [put('y2')]);
    assert.deepEqual(await ids(mine), ['a', 'b', 'y1', 'm1', 'y2']);
    // `mine` has loaded all of it by now; `yours` has never seen m1.
    await yours.save('c', [{ type: 'truncateAfter', id: 'a' }]);
    assert.deepEqual(await ids(yours), ['a', 'm1']);
    await mine.save('c', [{ type: 'truncateAfter', id: 'a' }]);
    assert.deepEqual(await ids(mine), ['a']);
  });

  test('sets aside what it cannot read, and loads the rest', async () => {
    const database = name();
    const store = indexedDBStore({ name: database });
    await store.save('c', [put('a'), put('b'), put('x'), { type: 'state', state }]);
    const raw = await openDB(database);
    await raw.put('messages', { chat: 'c', seq: 1, id: 'b', message: 'not a message' });
    await raw.put('chats', { chat: 'c', v: 1, state: { v: 9, secret: 1 } });
    assert.deepEqual(await store.load('c'), { messages: [put('a').message, put('x').message], state: null });
    const aside = await raw.getAll('aside');
    assert.deepEqual(aside.map(({ record }) => record.message ?? record.state), ['not a message', { v: 9, secret: 1 }]);
    assert.deepEqual(await ids(store), ['a', 'x']);
    assert.equal((await raw.getAll('aside')).length, 2);
    raw.close();
    await store.remove('c');
    const again = await openDB(database);
    assert.deepEqual(await again.getAll('aside'), []);
    again.close();
  });

  test('leaves a database of a newer version alone and says so', async () => {
    const database = name();
    const newer = await openDB(database, 99, { upgrade: (db) => { db.createObjectStore('of the future'); } });
    newer.close();
    await assert.rejects(indexedDBStore({ name: database }).load('c'), (error) => error instanceof TampError && error.code === 'newer-version' && /Reload/.test(error.message));
  });

  test('steps aside for a page that upgrades the database', async () => {
    const database = name();
    const store = indexedDBStore({ name: database });
    await store.save('c', [put('a')]);
    const newer = await openDB(database, 2, { upgrade: (db) => { db.createObjectStore('of the future'); } });
    assert.deepEqual((await newer.getAll('messages')).map(({ id }) => id), ['a']);
    newer.close();
    await assert.rejects(store.save('c', [put('b')]), (error) => error instanceof TampError && error.code === 'newer-version');
  });

  test('says which chat holds what cannot be stored, and keeps what was there', async () => {
    const store = indexedDBStore({ name: name() });
    await store.save('c', [put('a')]);
    await assert.rejects(store.save('c', [put('b'), put('f', { call: () => 1 })]), (error) => error instanceof TampError && error.code === 'not-storable' && /"c"/.test(error.message));
    assert.deepEqual(await ids(store), ['a']);
  });

  test('says what is safe when there is no room left', async (t) => {
    const store = indexedDBStore({ name: name() });
    await store.save('c', [put('a'), put('b')]);
    t.mock.method(globalThis.IDBObjectStore.prototype, 'put', () => { throw new DOMException('full', 'QuotaExceededError'); });
    await assert.rejects(store.save('c', [put('d')]), (error) => error instanceof TampError && error.code === 'quota-exceeded' && /2 messages/.test(error.message) && /1 change was not saved/.test(error.message));
    t.mock.restoreAll();
    await store.save('c', [put('d')]);
    assert.deepEqual(await ids(store), ['a', 'b', 'd']);
  });

  test('says where to turn when there is no IndexedDB', async () => {
    const kept = globalThis.indexedDB;
    try {
      globalThis.indexedDB = undefined;
      await assert.rejects(indexedDBStore({ name: name() }).load('c'), (error) => error instanceof TampError && /memoryStore/.test(error.message));
    } finally {
      globalThis.indexedDB = kept;
    }
  });
});
