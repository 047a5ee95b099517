// The middleware: compacts what a run sends, tells the client, and keeps what the server answers from undoing it.
//
//   input ─ project marks ─ compact ─▶ next.run ─▶ RUN_STARTED      echoed input put right; notices follow it
//                                                  MESSAGES_SNAPSHOT put right
//                                                  RUN_ERROR         over-long: once more, with less
//                                                  anything else     passed on untouched
import { compactFor, interruptedCalls } from './outgoing.js';
import { unwrap } from './observer.js';
import { isObject } from './notice.js';
import { halving, overflowOfError, overflowOfEvent } from './overflow.js';
import { reconcileEcho, reconcileSnapshot } from './reconcile.js';
import { Settings, idsOf, isActivity, isOwnNotice, noticeOf } from './settings.js';
import { Stream } from './stream.js';

/** @import { Compaction, Tamp } from '../index.js' */
/** @import { AgUiEvent, Message, MiddlewareOptions, RunInput } from './types.js' */
/** @import { Subscriber } from './stream.js' */

/** @typedef {{ run(input: any): any, messages?: readonly Message[], pendingInterrupts?: any }} Next */

// A middleware of ours that gets one of these lists is the inner one of two, and leaves it alone.
/** Lists that a compaction made. @type {WeakSet<object>} */
const made = new WeakSet();
/** How many runs are sending a list as they got it. @type {WeakMap<object, number>} */
const sending = new WeakMap();

/** Events after which a run can start again and the client's list is none the worse. */
const HARMLESS = new Set([
  'STATE_SNAPSHOT', 'STATE_DELTA', 'ACTIVITY_SNAPSHOT', 'ACTIVITY_DELTA', 'RAW', 'CUSTOM',
]);

class Run {
  #settings;
  /** @type {RunInput} */
  #input;
  #next;
  #subscriber;
  #ids;
  /** Calls that interrupts wait for. */
  #calls;
  #abort = new AbortController();
  /** Whether another middleware of ours has compacted already. */
  #inner;

  /** The history without marks. @type {readonly Message[]} */
  #messages;
  /** What the server gets of it. @type {readonly Message[]} */
  #sent;
  /** How many messages there were before anything was compacted; null: nothing was. @type {number | null} */
  #before = null;
  /** To be said when the run has started. @type {AgUiEvent | null} */
  #notice = null;
  /** What was said. @type {AgUiEvent | null} */
  #said = null;

  /** The attempt whose events count. @type {{ unsubscribe?: () => void } | null} */
  #attempt = null;
  #retried = false;
  /** Whether the client has its RUN_STARTED, and whether the next one is a second one. */
  #started = false;
  #restarting = false;
  /** Whether nothing has happened that starting again would repeat. */
  #harmless = true;
  /** Steps that have begun and not ended. @type {Set<string>} */
  #steps = new Set();

  /** @param {Settings} settings @param {RunInput} input @param {Next} next @param {Subscriber<AgUiEvent>} subscriber */
  constructor(settings, input, next, subscriber) {
    this.#settings = settings;
    this.#input = input;
    this.#next = next;
    this.#subscriber = subscriber;
    this.#ids = idsOf(input);
    this.#inner = made.has(input.messages) || (sending.get(input.messages) ?? 0) > 0;
    this.#messages = settings.sendable(input.messages);
    this.#sent = this.#messages;
    const agent = settings.agents.get(input);
    const interrupts = [agent?.pendingInterrupts, next.pendingInterrupts, settings.interrupts.get(this.#ids.threadId)]
      .flatMap((list) => (Array.isArray(list) ? list : []));
    this.#calls = interruptedCalls(this.#messages, interrupts, input.resume);
    const outer = agent?.abortController?.signal;
    if (outer !== undefined) {
      const abort = () => this.#abort.abort(outer.reason);
      if (outer.aborted) abort();
      else outer.addEventListener('abort', abort);
      subscriber.add(() => outer.removeEventListener('abort', abort));
    }
  }

  start() {
    const before = unwrap(this.#settings.options.before);
    if (before === null || this.#inner) {
      this.#send();
      return;
    }
    const { core } = this.#settings;
    if (core.tamp !== null) this.#compact(core.tamp, before);
    else core.load().then((tamp) => this.#compact(tamp, before), (error) => this.#giveUp(error));
  }

  stop() {
    const attempt = this.#attempt;
    this.#attempt = null;
    attempt?.unsubscribe?.();
    this.#abort.abort();
  }

  /** @param {Tamp} tamp @param {NonNullable<ReturnType<typeof unwrap>>} before */
  #compact(tamp, { policy, observed }) {
    if (this.#subscriber.closed) return;
    /** @param {Compaction<Message>} compaction */
    const apply = (compaction) => {
      if (this.#subscriber.closed) return;
      this.#take(compaction, observed);
      this.#send();
    };
    try {
      const compaction = compactFor(this.#settings.core, tamp, {
        threadId: this.#ids.threadId,
        messages: this.#messages,
        policy,
        calls: this.#calls,
        signal: this.#abort.signal,
      }, this.#settings.options);
      if (compaction instanceof Promise) compaction.then(apply, (error) => this.#giveUp(error));
      else apply(compaction);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  /** What comes of a compaction. @param {Compaction<Message>} compaction @param {boolean} observed */
  #take(compaction, observed) {
    if (!compaction.changed) return;
    this.#sent = compaction.messages;
    const gone = this.#settings.gone(this.#ids.threadId);
    for (const { index } of compaction.report.added) gone.add(compaction.messages[index].id);
    const before = this.#before ?? compaction.before;
    this.#before = before;
    const { after } = compaction;
    const removed = before - after;
    if (observed && removed > 0) {
      const notice = noticeOf({ removed, before, after }, this.#ids, 'before');
      // A second try goes on from the first: it is still one notice.
      this.#notice = this.#said === null ? notice : { ...notice, messageId: this.#said.messageId };
    }
    this.#settings.compacted('before', compaction, this.#ids);
  }

  /** Fail open. @param {unknown} error */
  #giveUp(error) {
    if (this.#subscriber.closed) return;
    if (this.#abort.signal.aborted) {
      this.#subscriber.error(error);
      return;
    }
    this.#settings.report(error);
    this.#send();
  }

  #send() {
    const { messages } = this.#input;
    const same = this.#sent === messages;
    if (same) {
      sending.set(messages, (sending.get(messages) ?? 0) + 1);
      this.#subscriber.add(() => sending.set(messages, (sending.get(messages) ?? 1) - 1));
    } else {
      made.add(this.#sent);
    }
    /** @type {{ unsubscribe?: () => void }} */
    const attempt = {};
    this.#attempt = attempt;
    const counts = () => this.#attempt === attempt;
    let source;
    try {
      // Once, and subscribed to at once: the client's HTTP agent sends when it is called, not when it is heard.
      source = this.#next.run(same ? this.#input : { ...this.#input, messages: this.#sent });
    } catch (error) {
      this.#subscriber.error(error);
      return;
    }
    const subscription = source.subscribe({
      next: (/** @type {AgUiEvent} */ event) => counts() && this.#onEvent(event),
      error: (/** @type {unknown} */ error) => counts() && this.#onError(error),
      complete: () => counts() && this.#subscriber.complete(),
    });
    if (counts()) attempt.unsubscribe = () => subscription.unsubscribe();
    else subscription.unsubscribe();
  }

  /** @param {AgUiEvent} event */
  #onEvent(event) {
    switch (event?.type) {
      case 'RUN_STARTED':
        this.#onStarted(event);
        return;
      case 'MESSAGES_SNAPSHOT':
        this.#subscriber.next(this.#putRight(event, () => reconcileSnapshot(event, this.#view(), this.#notices())));
        return;
      case 'RUN_ERROR': {
        const unit = this.#canRetry() ? overflowOfEvent(/** @type {any} */ (event)) : null;
        if (unit === null) break;
        this.#retry(unit, () => {
          this.#subscriber.next(event);
          this.#subscriber.complete();
        });
        return;
      }
      case 'RUN_FINISHED':
        this.#onFinished(event);
        break;
      case 'STEP_STARTED':
        this.#steps.add(event.stepName);
        break;
      case 'STEP_FINISHED':
        this.#steps.delete(event.stepName);
        break;
      default:
        if (this.#harmless && !HARMLESS.has(event?.type)) this.#harmless = false;
    }
    this.#subscriber.next(event);
  }

  /** @param {AgUiEvent} event */
  #onStarted(event) {
    if (this.#restarting) this.#restarting = false;
    else this.#subscriber.next(this.#putRight(event, () => reconcileEcho(event, this.#view())));
    this.#started = true;
    const { unsaid } = this.#settings;
    const earlier = unsaid.get(this.#ids.threadId) ?? [];
    unsaid.delete(this.#ids.threadId);
    for (const notice of earlier) this.#subscriber.next(notice);
    if (this.#notice === null) return;
    this.#said = this.#notice;
    this.#notice = null;
    this.#subscriber.next(this.#said);
  }

  /** @param {AgUiEvent} event */
  #onFinished({ outcome }) {
    const { interrupts } = this.#settings;
    if (outcome?.type === 'interrupt' && Array.isArray(outcome.interrupts)) {
      interrupts.set(this.#ids.threadId, outcome.interrupts.filter(isObject));
    } else {
      interrupts.delete(this.#ids.threadId);
    }
  }

  /** @param {unknown} error */
  #onError(error) {
    const unit = this.#canRetry() ? overflowOfError(error) : null;
    if (unit === null) this.#subscriber.error(error);
    else this.#retry(unit, () => this.#subscriber.error(error));
  }

  #canRetry() {
    return this.#settings.options.retryOnOverflow !== false && !this.#inner && !this.#retried && this.#harmless;
  }

  /**
   * Start again with less.
   * @param {'bytes' | 'tokens'} unit what there was too much of
   * @param {() => void} passOn says what went wrong, when there is no less
   */
  #retry(unit, passOn) {
    this.#retried = true;
    const failed = this.#attempt;
    this.#attempt = null; // nothing it says counts any more
    failed?.unsubscribe?.();
    const { core, options } = this.#settings;
    /** @param {Tamp} tamp */
    const again = (tamp) => {
      if (this.#subscriber.closed) return;
      /** @type {Compaction<Message>} */
      let compaction;
      try {
        compaction = /** @type {Compaction<Message>} */ (compactFor(null, tamp, {
          threadId: this.#ids.threadId,
          messages: this.#sent,
          policy: halving(tamp, this.#sent, unit, options.countTokens),
          calls: this.#calls,
        }, options));
      } catch (error) {
        this.#settings.report(error);
        passOn();
        return;
      }
      if (!compaction.changed) {
        passOn();
        return;
      }
      for (const stepName of this.#steps) this.#subscriber.next({ type: 'STEP_FINISHED', stepName });
      this.#steps.clear();
      this.#restarting = this.#started;
      this.#take(compaction, unwrap(options.before)?.observed ?? false);
      this.#send();
    };
    if (core.tamp !== null) again(core.tamp);
    else core.load().then(again, () => this.#subscriber.closed || passOn());
  }

  /** What the server's lists are read against. */
  #view() {
    return {
      original: this.#input.messages.filter((message) => !isActivity(message)),
      sent: this.#sent,
      gone: this.#settings.gone(this.#ids.threadId),
    };
  }

  /** The notices of this client: no server knows them. @returns {Message[]} */
  #notices() {
    const stored = this.#next.messages;
    const notices = Array.isArray(stored) ? stored.filter(isOwnNotice) : [];
    if (this.#said === null) return notices;
    const { messageId, activityType, content, metadata } = this.#said;
    return [...notices, { id: messageId, role: 'activity', activityType, content, metadata }];
  }

  /** @param {AgUiEvent} event @param {() => AgUiEvent} work @returns {AgUiEvent} the event itself when `work` fails */
  #putRight(event, work) {
    try {
      return work();
    } catch (error) {
      this.#settings.report(error);
      return event;
    }
  }
}

/**
 * The middleware of some settings.
 * @param {Settings} settings
 * @returns {(input: any, next: any) => any}
 */
export function middlewareOf(settings) {
  return (input, next) => new Stream((/** @type {Subscriber<AgUiEvent>} */ subscriber) => {
    settings.begin(idsOf(input));
    const run = new Run(settings, input, next, subscriber);
    subscriber.add(() => run.stop());
    run.start();
    return undefined;
  });
}

/**
 * For `agent.use(...)`. Accepted by @ag-ui/client 0.0.59 and 1.x without importing either. Changes the outgoing copy only:
 * `agent.messages` stays whole, also when the server answers with what it was sent. Fails open: on any error of ours the full
 * history (less what is marked) is sent. User messages are never edited. Registered twice, it compacts once.
 * @param {MiddlewareOptions} options read when it is needed; `after` is for `useCompaction`
 * @returns {<I extends { messages: readonly { id: string, role: string }[] }, O>(input: I, next: { run(input: I): O }) => O}
 */
export function compactionMiddleware(options) {
  const settings = new Settings(options);
  if (options.before !== undefined) settings.core.load().catch(() => {}); // a run that needs it will say so
  return middlewareOf(settings);
}
