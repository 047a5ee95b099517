// What shows a person that a compaction runs: one part, updated in place by its id, never left open.
import { isObject } from './shapes.js';

/** @import { IndicatorPart } from './types.js' */

/** @typedef {(part: IndicatorPart) => void} IndicatorListener */

/**
 * @param {IndicatorListener | undefined} listener
 * @param {string} id
 * @param {number} [totalTokens]
 * @param {(error: unknown) => void} [report] what the listener throws goes here
 */
export function openIndicator(listener, id, totalTokens, report) {
  /** @param {IndicatorPart['data']['status']} status */
  const show = (status) => {
    try {
      listener?.({ type: 'data-compaction', id, data: { status, ...(totalTokens === undefined ? {} : { totalTokens }) } });
    } catch (error) {
      report?.(error);
    }
  };
  show('compacting');
  let open = true;
  return {
    /** The first call counts. @param {'complete' | 'failed' | 'aborted'} status */
    close(status) {
      if (open) show(status);
      open = false;
    },
  };
}

/** An indicator that a page which is gone left open. @param {unknown} part @returns {part is IndicatorPart} */
const isOpen = (part) => isObject(part) && part.type === 'data-compaction' && isObject(part.data) && part.data.status === 'compacting';

/** @template {{ data: object }} P @param {P} part @returns {P} */
const failed = (part) => ({ ...part, data: { ...part.data, status: 'failed' } });

/**
 * A loaded message with its open indicators closed as failed, and these. The same object when there are none.
 * @template {object} M @param {M} message
 * @returns {{ message: M, closed: IndicatorPart[] }}
 */
export function closeStaleIndicators(message) {
  const closed = /** @type {IndicatorPart[]} */ ([]);
  const changed = /** @type {Record<string, unknown>} */ ({});
  for (const key of ['parts', 'content']) {
    const list = /** @type {Record<string, unknown>} */ (message)[key];
    if (!Array.isArray(list) || !list.some(isOpen)) continue;
    changed[key] = list.map((part) => {
      if (!isOpen(part)) return part;
      closed.push(failed(part));
      return failed(part);
    });
  }
  return { message: closed.length > 0 ? { ...message, ...changed } : message, closed };
}
