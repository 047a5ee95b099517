/**
 * Policies as types. A declaration file, because JSDoc cannot say a type that holds itself.
 * What each strategy does is in the README's table; the core checks every field and says what is wrong.
 */

/** Optional on every strategy: run only when this holds. All comparisons are strict (over, not at). */
export type Trigger =
  | { tokensOver: number }
  | { messagesOver: number }
  | { bytesOver: number }
  | { turnsOver: number }
  | { groupsOver: number }
  | { hasToolCalls: true }
  | { all: readonly Trigger[] }
  | { any: readonly Trigger[] };

interface Common {
  when?: Trigger;
}

/** Keeps the newest part. At most one keep; without one `keepMessages: 40`. */
export interface SlidingWindow extends Common {
  maxMessages?: number;
  maxTokens?: number;
  maxBytes?: number;
  keepMessages?: number;
  keepTokens?: number;
  keepGroups?: number;
  keepTurns?: number;
  /** Default true. */
  keepFirstUser?: boolean;
}

/** Over max the oldest groups go, one at a time, until at or below `to`. Exactly one pair. */
export interface Truncation extends Common {
  maxTokens?: number;
  toTokens?: number;
  maxMessages?: number;
  toMessages?: number;
  maxBytes?: number;
  toBytes?: number;
  /** Default false. */
  keepFirstUser?: boolean;
}

/** Budget = window - output. Over half of it tool results collapse, over 80 % the oldest go. */
export interface ContextWindow extends Common {
  maxContextWindowTokens: number;
  maxOutputTokens: number;
  /** Default 0.5. */
  toolEvictionThreshold?: number;
  /** Default 0.8. */
  truncationThreshold?: number;
  /** Default 2. */
  keepLastToolCallGroups?: number;
  /** Default false. */
  keepFirstUser?: boolean;
}

/** Older tool groups become one assistant message each, "[Tool results: …]". */
export interface ToolResults extends Common {
  /** Default 2. */
  keepLastToolCallGroups?: number;
  /** Default 4096, at least 31. */
  maxChars?: number;
}

/** Older tool groups go whole. */
export interface DropToolCalls extends Common {
  /** Default 1. */
  keepLastToolCallGroups?: number;
  /** Only groups all of whose calls are of these tools. */
  tools?: readonly string[];
}

/** The content of older results becomes a placeholder; calls stay. */
export interface ClearToolResults extends Common {
  maxMessages?: number;
  maxTokens?: number;
  /** Default 3. */
  keepLast?: number;
  /** Default "[tool result cleared]". */
  placeholder?: string;
  excludeTools?: readonly string[];
  /** Default false. */
  clearInputs?: boolean;
  /** Default 0: less than this saved, and nothing is done. */
  minTokens?: number;
}

/** Of results about the same thing only the newest successful one stays. */
export interface DedupeToolResults extends Common {
  /** Tool name to the argument that says what was read, as a key or a JSON Pointer. */
  tools: Record<string, string>;
  /** Default "[superseded by a later result]". */
  placeholder?: string;
}

/** Single texts that are too long keep their head and tail. At least one limit. */
export interface Clamp extends Common {
  maxChars?: number;
  maxTokens?: number;
  /** Default 2000. */
  headChars?: number;
  /** Default 2000. */
  tailChars?: number;
  /** Default ["assistant"]. */
  roles?: readonly ('assistant' | 'tool' | 'user' | 'reasoning')[];
  /** Default true: arguments too. */
  toolInputs?: boolean;
}

/** Inline bytes of older turns become a line of text. */
export interface StripBinary extends Common {
  /** Default 1. */
  keepLastTurns?: number;
  /** Default 0. */
  minBytes?: number;
}

/** Reasoning of older turns goes. */
export interface DropReasoning extends Common {
  /** Default 1. */
  keepLastTurns?: number;
}

/** What a window would remove becomes one summary, written by a model. */
export interface Summarize extends Common {
  maxMessages?: number;
  maxTokens?: number;
  /** Default 20. */
  keepMessages?: number;
  keepTokens?: number;
  /** Default true. */
  keepFirstUser?: boolean;
  /** Default "user". */
  role?: 'user' | 'assistant' | 'system';
  /** Default "[Conversation summary]". */
  label?: string;
  /** Longer input is summarised in pieces. */
  maxInputTokens?: number;
  /** A longer summary is refused. */
  maxSummaryTokens?: number;
}

/** A summary made without a model. */
export interface Digest extends Omit<Summarize, 'maxInputTokens'> {}

/** Runs steps in order until the list fits; the steps' own limits and triggers are not asked. */
export interface Budget extends Common {
  maxTokens: number;
  steps: readonly Policy[];
}

/** Makes a list that a provider accepts. */
export interface Repair extends Common {
  /** Default "drop". */
  orphanResults?: 'drop' | 'keep';
  /** Default "answer". */
  staleCalls?: 'answer' | 'drop' | 'keep';
  /** Default "any"; "user" puts a short user message in front when the first message is not the user's. */
  head?: 'any' | 'user';
  /** Default "[no result was recorded]". */
  placeholder?: string;
}

export type Strategy =
  | ({ strategy: 'sliding-window' } & SlidingWindow)
  | ({ strategy: 'truncation' } & Truncation)
  | ({ strategy: 'context-window' } & ContextWindow)
  | ({ strategy: 'tool-results' } & ToolResults)
  | ({ strategy: 'drop-tool-calls' } & DropToolCalls)
  | ({ strategy: 'clear-tool-results' } & ClearToolResults)
  | ({ strategy: 'dedupe-tool-results' } & DedupeToolResults)
  | ({ strategy: 'clamp' } & Clamp)
  | ({ strategy: 'strip-binary' } & StripBinary)
  | ({ strategy: 'drop-reasoning' } & DropReasoning)
  | ({ strategy: 'summarize' } & Summarize)
  | ({ strategy: 'digest' } & Digest)
  | ({ strategy: 'budget' } & Budget)
  | ({ strategy: 'repair' } & Repair);

/** A policy is plain JSON; an array is a pipeline. */
export type Policy = Strategy | readonly Policy[];
