// The shapes that `tamp/session` and its callbacks exchange. Names and fields are those of trigger.dev's chat
// compaction, so that callbacks written for it work here unchanged.

/**
 * Tokens as a provider reported them. Any number may be missing.
 * @typedef {{ inputTokens?: number, outputTokens?: number, totalTokens?: number, [key: string]: unknown }} Usage
 */

/**
 * A finished step of a tool loop, as the AI SDK hands it to `prepareStep`. `response.messages` may hold the
 * messages of this step (AI SDK 7) or of all steps so far (5 and 6).
 * @typedef {object} CompactionStep
 * @property {readonly unknown[]} content
 * @property {string} finishReason
 * @property {Usage} [usage]
 * @property {{ messages: readonly object[] }} response
 */

/**
 * What `shouldCompact` is asked with. All lists are copies.
 * @typedef {object} ShouldCompactEvent
 * @property {object[]} messages the model lane; in the inner loop the prompt of the next step
 * @property {number} [totalTokens] of the last model call, or the estimate of `messages` (then `estimated`)
 * @property {number} [inputTokens] as reported
 * @property {number} [outputTokens] as reported
 * @property {Usage} [usage] of the last model call
 * @property {Usage} [totalUsage] summed over all turns, this one included
 * @property {Usage} [turnUsage] summed over the steps of this turn
 * @property {string} [chatId]
 * @property {number} [turn]
 * @property {unknown} [clientData]
 * @property {'inner' | 'outer'} source between the steps of a turn, or after it
 * @property {CompactionStep[]} [steps] of this turn so far
 * @property {number} [stepNumber] index of the finished step; -1 after a turn
 * @property {boolean} estimated whether `totalTokens` is an estimate, because no usage was reported
 */

/**
 * What `summarize` is asked with.
 * @typedef {object} SummarizeEvent
 * @property {object[]} messages what the summary will stand for, an earlier summary included: copies
 * @property {Usage} [usage]
 * @property {Usage} [totalUsage]
 * @property {string} [chatId]
 * @property {number} [turn]
 * @property {unknown} [clientData]
 * @property {'inner' | 'outer'} source
 * @property {number} [stepNumber]
 * @property {string | null} previousSummary text of the summary that the new one replaces; null at first
 * @property {string} text `messages` as plain text, each message bounded
 * @property {AbortSignal} signal aborts when the answer is no longer wanted
 */

/**
 * What `compactUIMessages` and `compactModelMessages` are asked with. In the inner loop both lists end where
 * the turn began: the steps that ran since are in the summary only.
 * @typedef {object} CompactMessagesEvent
 * @property {string} summary
 * @property {object[]} uiMessages copies
 * @property {object[]} modelMessages copies
 * @property {string} chatId '' when none is known
 * @property {number} turn 0 when none is known
 * @property {unknown} [clientData]
 * @property {'inner' | 'outer'} source
 */

/**
 * What `onCompacted` is told.
 * @typedef {object} CompactedEvent
 * @property {string} summary
 * @property {object[]} messages what was given to `summarize`: copies
 * @property {object[]} messagesAfter the model lane that replaced it: copies
 * @property {number} messageCount length of `messages`
 * @property {Usage} [usage]
 * @property {number} [totalTokens] what the decision was taken on
 * @property {number} [inputTokens]
 * @property {number} [outputTokens]
 * @property {number} stepNumber index of the finished step; -1 after a turn
 * @property {string} [chatId]
 * @property {number} [turn]
 * @property {unknown} [clientData]
 * @property {'inner' | 'outer'} source
 */

/**
 * When and how to compact. After `compactUIMessages` and `compactModelMessages` the result is repaired: no
 * result without its call, no call without its result, instructions kept.
 * @typedef {object} CompactionOptions
 * @property {(event: ShouldCompactEvent) => boolean | Promise<boolean>} shouldCompact
 * @property {(event: SummarizeEvent) => string | Promise<string>} summarize
 * @property {(event: CompactMessagesEvent) => object[] | Promise<object[]>} [compactUIMessages] what people see
 *   from now on; default: all of it
 * @property {(event: CompactMessagesEvent) => object[] | Promise<object[]>} [compactModelMessages] what the model
 *   reads from now on; default: instructions, the summary, what is pinned and the current question
 */

/**
 * Outcome of the inner loop; `messages` is what to send instead.
 * @typedef {{ type: 'skipped' } | { type: 'rebuilt', messages: object[] }
 *   | { type: 'compacted', messages: object[], summary: string }} CompactResult
 */

/**
 * What is stored of a compaction: plain JSON. Everything behind the covered messages is derived from the
 * transcript. The transcript's first `covered` messages, the last of which is named `throughId`, are what the
 * summary stands for, as long as `digest` is theirs. A message without an id is named by its place, "#3".
 * @typedef {object} CompactionState
 * @property {1} v
 * @property {string} summary
 * @property {string} throughId
 * @property {number} covered
 * @property {string} digest of the covered messages and, with `part`, of the covered part of the next one
 * @property {'inner' | 'outer' | 'action'} source
 * @property {number} createdAt milliseconds since 1970
 * @property {number} tokensBefore estimate of the model lane before
 * @property {number} tokensAfter and after
 * @property {number} generation 1 for the first compaction of a chat
 * @property {string[]} [kept] covered messages that the model still reads word for word
 * @property {{ id: string, parts: number }} [part] the message after `throughId`, an answer whose first parts
 *   are covered too
 * @property {object[]} [lane] what `compactModelMessages` put in the place of the covered messages
 */

/**
 * The indicator of a compaction: one part, updated in place by its id.
 * @typedef {{ type: 'data-compaction', id: string, data: { status: 'compacting' | 'complete' | 'failed' | 'aborted',
 *   totalTokens?: number } }} IndicatorPart
 */

/**
 * Why a compaction came to nothing. `code` is one of "blank", "not-text", "not-smaller", "stale", "failed",
 * "aborted".
 * @typedef {{ code: string, message: string }} CompactionFailure
 */

/**
 * Why a summary no longer stands. `code` is one of "edited", "removed", "inserted", "reordered", "changed",
 * "restored".
 * @typedef {{ code: string, message: string }} Invalidation
 */

/**
 * What surrounds a compaction; handed on to the callbacks.
 * @typedef {{ chatId?: string, turn?: number, clientData?: unknown, totalUsage?: Usage, turnUsage?: Usage,
 *   signal?: AbortSignal }} CompactionContext
 */

/**
 * One change of a stored chat. Applying a list of changes twice equals applying it once.
 *
 * `put` replaces the message of that id in place, or appends it. `truncateAfter` removes what stands after that
 * id, everything with null, and nothing when there is no such id. A message without an id of its own is put
 * under its place, "#3".
 * @typedef {{ type: 'put', id: string, message: object } | { type: 'remove', id: string }
 *   | { type: 'truncateAfter', id: string | null } | { type: 'state', state: CompactionState | null }} Change
 */

/**
 * Where chats are kept. A save is whole or not at all.
 * @typedef {object} SessionStore
 * @property {(chatId: string) => Promise<{ messages: object[], state: CompactionState | null } | null>} load
 *   null when there is no such chat
 * @property {(chatId: string, changes: object[]) => Promise<void>} save a list of `Change`, one transaction
 * @property {(chatId: string) => Promise<void>} remove
 * @property {() => Promise<string[]>} list ids of all chats
 */

export {};
