// The observable that a middleware returns, against rxjs itself: all of it is how rxjs, in any copy, takes it for its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  EMPTY, Subject, catchError, concat, concatMap, defer, finalize, firstValueFrom, from, isObservable, lastValueFrom, map, merge, mergeAll, mergeMap,
  of, switchMap, take, takeUntil, tap, throwError, toArray,
} from 'rxjs';
import { Stream, Subscriber } from '../../dist/ag-ui/stream.js';

const counting = (/** @type {number} */ count) => new Stream((/** @type {any} */ subscriber) => {
  for (let i = 1; i <= count; i++) subscriber.next(i);
  subscriber.complete();
});

test('rxjs takes a stream for an observable', async () => {
  assert.ok(isObservable(counting(1)));
  assert.equal(await lastValueFrom(/** @type {any} */ (counting(3))), 3);
  assert.equal(await firstValueFrom(/** @type {any} */ (counting(3))), 1);
});

test('operators work on a stream as on any source', async () => {
  const values = counting(4).pipe(
    map((n) => n * 2),
    concatMap(async (n) => n + 1),
    mergeMap((n) => of(n, n)),
    tap(() => {}),
    toArray(),
  );
  assert.deepEqual(await lastValueFrom(values), [3, 3, 5, 5, 7, 7, 9, 9]);
});

test('a stream can be what an operator switches to, concatenates, merges and flattens', async () => {
  const all = (/** @type {any} */ source) => lastValueFrom(source.pipe(toArray()));
  assert.deepEqual(await all(of(0).pipe(switchMap(() => /** @type {any} */ (counting(2))))), [1, 2]);
  assert.deepEqual(await all(concat(of(0), /** @type {any} */ (counting(2)))), [0, 1, 2]);
  assert.deepEqual(await all(merge(/** @type {any} */ (counting(2)), EMPTY)), [1, 2]);
  assert.deepEqual(await all(from(/** @type {any} */ (counting(2)))), [1, 2]);
  assert.deepEqual(await all(defer(() => /** @type {any} */ (counting(2)))), [1, 2]);
  assert.deepEqual(await all(of(/** @type {any} */ (counting(2))).pipe(mergeAll())), [1, 2]);
});

test('nothing starts before somebody subscribes, and each subscriber starts it anew', () => {
  let starts = 0;
  const stream = new Stream((/** @type {any} */ subscriber) => {
    starts += 1;
    subscriber.complete();
  });
  const piped = stream.pipe(map((value) => value));
  assert.equal(starts, 0);
  piped.subscribe();
  stream.subscribe();
  assert.equal(starts, 2);
});

test('cleaning up happens once: on completion, on an error and on unsubscribing', () => {
  for (const end of ['complete', 'error', 'unsubscribe']) {
    let torn = 0;
    /** @type {any} */
    let inside;
    const stream = new Stream((/** @type {any} */ subscriber) => {
      inside = subscriber;
      return () => { torn += 1; };
    });
    const subscription = stream.pipe(finalize(() => { torn += 10; })).subscribe({ error() {} });
    if (end === 'unsubscribe') subscription.unsubscribe();
    else inside[end](new Error('x'));
    subscription.unsubscribe();
    assert.equal(torn, 11, end);
    assert.ok(inside.closed, end);
  }
});

test('takeUntil and take stop the source', () => {
  let torn = 0;
  const endless = new Stream((/** @type {any} */ subscriber) => {
    subscriber.next(1);
    return () => { torn += 1; };
  });
  const stop = new Subject();
  endless.pipe(takeUntil(stop)).subscribe();
  stop.next(null);
  assert.equal(torn, 1);
  counting(5).pipe(take(1)).subscribe();
});

test('errors reach the observer, catchError and a promise; what the work throws is one', async () => {
  const failing = new Stream(() => { throw new Error('no'); });
  await assert.rejects(lastValueFrom(/** @type {any} */ (failing)), /no/);
  assert.equal(await lastValueFrom(failing.pipe(catchError(() => of('caught')))), 'caught');
  assert.equal(await lastValueFrom(counting(1).pipe(
    mergeMap(() => throwError(() => new Error('later'))),
    catchError(() => of('caught')),
  )), 'caught');
});

test('an operator that throws fails the stream, not its source', async () => {
  await assert.rejects(
    lastValueFrom(counting(2).pipe(map(() => { throw new Error('in map'); }))),
    /in map/,
  );
});

test('nothing is handed on after the end', () => {
  /** @type {unknown[]} */
  const seen = [];
  const subscriber = new Subscriber({
    next: (value) => seen.push(value),
    complete: () => seen.push('end'),
    error: () => seen.push('error'),
  });
  subscriber.next(1);
  subscriber.complete();
  subscriber.next(2);
  subscriber.error(new Error('x'));
  subscriber.complete();
  assert.deepEqual(seen, [1, 'end']);
});

test('what is added after the end is cleaned up at once, and what was removed is not', () => {
  let torn = 0;
  const subscriber = new Subscriber({});
  const removed = () => { torn += 100; };
  subscriber.add(removed);
  subscriber.remove(removed);
  subscriber.unsubscribe();
  subscriber.add(() => { torn += 1; });
  subscriber.add({ unsubscribe() { torn += 1; } });
  assert.equal(torn, 2);
});
