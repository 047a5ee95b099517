// A cold observable that rxjs takes for one of its own.
//
// A middleware of @ag-ui/client must return an rxjs Observable at once, while Tamp may still be loading, and what comes
// after must not start before. rxjs is the client's dependency, in one of several copies, and not ours to import. What its
// operators ask of a source is little: `lift`, which wraps it with an operator; `subscribe`, with an observer or with an
// operator's own subscriber; and that subscribers can be given something to clean up. `from()` and `concat()` also take
// whatever says `Symbol.observable`. That is all there is here.

/** @typedef {(() => void) | { unsubscribe(): void } | void | null | undefined} Teardown */

/**
 * @template T
 * @typedef {object} Observer
 * @property {(value: T) => void} [next]
 * @property {(error: unknown) => void} [error]
 * @property {() => void} [complete]
 */

/** rxjs reports what nobody handles the same way: to the host, not to the producer. @param {unknown} error */
function reportUnhandled(error) {
  setTimeout(() => {
    throw error;
  });
}

/**
 * Hands notifications on until it is closed; then cleans up, once.
 * @template T
 */
export class Subscriber {
  closed = false;
  #stopped = false;
  /** @type {Observer<T>} */
  #observer;
  /** @type {Teardown[]} */
  #teardowns = [];

  /** @param {Observer<T>} observer */
  constructor(observer) {
    this.#observer = observer;
  }

  /** @param {T} value */
  next(value) {
    if (this.#stopped) return;
    try {
      this.#observer.next?.(value);
    } catch (error) {
      reportUnhandled(error);
    }
  }

  /** @param {unknown} error */
  error(error) {
    if (this.#stopped) return;
    this.#stopped = true;
    try {
      if (this.#observer.error) this.#observer.error(error);
      else reportUnhandled(error);
    } catch (thrown) {
      reportUnhandled(thrown);
    } finally {
      this.unsubscribe();
    }
  }

  complete() {
    if (this.#stopped) return;
    this.#stopped = true;
    try {
      this.#observer.complete?.();
    } catch (error) {
      reportUnhandled(error);
    } finally {
      this.unsubscribe();
    }
  }

  unsubscribe() {
    if (this.closed) return;
    this.closed = true;
    this.#stopped = true;
    const teardowns = this.#teardowns;
    this.#teardowns = [];
    for (const teardown of teardowns) {
      try {
        tearDown(teardown);
      } catch (error) {
        reportUnhandled(error);
      }
    }
  }

  /** To be done when this closes; at once when it has. @param {Teardown} teardown */
  add(teardown) {
    if (!teardown || teardown === this) return;
    if (this.closed) tearDown(teardown);
    else this.#teardowns.push(teardown);
  }

  /** @param {Teardown} teardown */
  remove(teardown) {
    this.#teardowns = this.#teardowns.filter((each) => each !== teardown);
  }
}

/** @param {Teardown} teardown */
function tearDown(teardown) {
  if (typeof teardown === 'function') teardown();
  else teardown?.unsubscribe();
}

/** @param {any} value @returns {boolean} whether it is a subscriber, ours or an operator's of rxjs */
const isSubscriber = (value) => typeof value?.next === 'function' && typeof value.error === 'function'
  && typeof value.complete === 'function' && typeof value.add === 'function' && typeof value.unsubscribe === 'function';

/**
 * Does its work anew for each subscriber, when it is subscribed to.
 * @template T
 */
export class Stream {
  #work;

  /** @param {(subscriber: Subscriber<T>) => Teardown} work */
  constructor(work) {
    this.#work = work;
  }

  /**
   * @param {Observer<T> | Subscriber<T> | ((value: T) => void) | null} [observer]
   * @param {(error: unknown) => void} [error] when `observer` is a function
   * @param {() => void} [complete] when `observer` is a function
   * @returns {Subscriber<T>}
   */
  subscribe(observer, error, complete) {
    const subscriber = isSubscriber(observer)
      ? /** @type {Subscriber<T>} */ (observer)
      : new Subscriber(typeof observer === 'object' && observer !== null
        ? observer
        : { next: observer ?? undefined, error, complete });
    let teardown;
    try {
      teardown = this.#work(subscriber);
    } catch (thrown) {
      subscriber.error(thrown);
    }
    subscriber.add(teardown);
    return subscriber;
  }

  /**
   * How rxjs puts an operator behind a source.
   * @param {{ call(subscriber: any, source: any): Teardown }} operator
   * @returns {Stream<any>}
   */
  lift(operator) {
    return new Stream((subscriber) => operator.call(subscriber, this));
  }

  /** @param {((source: any) => any)[]} operations */
  pipe(...operations) {
    return operations.reduce((source, operation) => operation(source), /** @type {any} */ (this));
  }

  // Where the host has no Symbol.observable, libraries agree on this name.
  '@@observable'() {
    return this;
  }
}

const { observable } = /** @type {{ observable?: symbol }} */ (/** @type {unknown} */ (Symbol));
if (observable !== undefined) {
  Object.defineProperty(Stream.prototype, observable, { value: Stream.prototype['@@observable'] });
}
