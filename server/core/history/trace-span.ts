// The types of a trace: its spans and the data that they are built from.

import type { SpanAttribute, SpanName } from './span-kinds.ts';
import type { HashHex } from './span-ids.ts';
import type { RunStory } from './stories.ts';
import type { Window } from './windows.ts';
import type { AttemptUsage } from './run-usage.ts';

export type SpanAttributes = { readonly [K in SpanAttribute]?: SpanValue };

export interface TraceSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly parentId: string | null;
  readonly name: SpanName;
  /** Unix milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  /** Null if it did not fail. */
  readonly error: string | null;
  /** Ids of related spans in the same trace. */
  readonly links: readonly string[];
}

export interface SpanUsage extends AttemptUsage {
  /** Id of the agent's conversation; null if it had none. */
  readonly conversation: string | null;
}

/** One run, with the data that all of its spans need. */
export interface RunSource {
  readonly run: RunStory;
  readonly windows: readonly Window[];
  readonly traceId: string;
  readonly rootId: string;
  /** By task and attempt. */
  readonly used: ReadonlyMap<string, SpanUsage>;
  readonly hex: HashHex;
}

export type SpanValue = string | number | boolean | readonly string[];
