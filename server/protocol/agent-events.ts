// An agent's events, one per line of its log: the schema, and the types that drivers write and
// panels read. Panels import only the types; the backend validates a line when it reads it.

import * as z from 'zod';

/** A line may come from another version or program, so a missing field gets a neutral value. */
const text = z.string().catch('');
const count = z.number().catch(0);
const orNull = z.number().nullable().catch(null);

const usageSchema = z
  .object({
    inputTokens: count,
    outputTokens: count,
    cacheReadTokens: count,
    /** Estimated from list prices; null = the agent does not report it. */
    costUsd: orNull,
  })
  .readonly()
  .catch({ inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, costUsd: null });

const at = { at: count };

const loggedEventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('started'),
    /** The kind of agent. A string, because another version may have further kinds. */
    agent: text,
    sessionId: z.string().nullable().catch(null),
    resumed: z.boolean().catch(false),
    model: z.string().optional().catch(undefined),
    ...at,
  }),
  z.object({ type: z.literal('text'), text, ...at }),
  z.object({ type: z.literal('thinking'), text, ...at }),
  z.object({
    type: z.literal('tool_call'),
    id: text,
    name: text,
    title: text,
    input: z.unknown().catch(undefined),
    ...at,
  }),
  z.object({
    type: z.literal('tool_result'),
    id: text,
    isError: z.boolean().catch(false),
    text,
    ...at,
  }),
  z.object({
    type: z.literal('output'),
    stream: z.enum(['stdout', 'stderr']).catch('stdout'),
    text,
    ...at,
  }),
  z.object({
    type: z.literal('retry'),
    attempt: z.number().catch(1),
    delayMs: count,
    status: orNull,
    error: text,
    ...at,
  }),
  z.object({
    type: z.literal('question'),
    requestId: text,
    kind: z.enum(['permission', 'question']).catch('question'),
    text,
    choices: z.array(text).readonly().catch([]),
    ...at,
  }),
  z.object({ type: z.literal('question_withdrawn'), requestId: text, ...at }),
  z.object({ type: z.literal('answered'), requestId: text, choice: text, ...at }),
  z.object({
    type: z.literal('hint'),
    id: text,
    text,
    state: z.enum(['sent', 'delivered', 'dropped']).catch('sent'),
    ...at,
  }),
  z.object({ type: z.literal('usage'), usage: usageSchema, ...at }),
  z.object({
    type: z.literal('note'),
    level: z.enum(['info', 'warning']).catch('info'),
    text,
    ...at,
  }),
  z.object({
    type: z.literal('exit'),
    code: orNull,
    signal: z.string().nullable().catch(null),
    /** Drover stopped the agent: for a pause, a cancel or the end of a run. */
    stopped: z.literal(true).optional().catch(undefined),
    /** Number of processes that it left running and that were then killed. */
    ended: z.number().optional().catch(undefined),
    /** Number of its processes that survived that, as counted by the kernel. */
    left: z.number().optional().catch(undefined),
    ...at,
  }),
]);

/** An event as it is stored and read, with the time it was received (Unix ms). */
export type LoggedEvent = Readonly<z.infer<typeof loggedEventSchema>>;

type WithoutTime<Event> = Event extends unknown ? Omit<Event, 'at'> : never;

/** An event as a driver reports it: a log line without its time. */
export type AgentEvent = WithoutTime<LoggedEvent>;

export type Usage = z.infer<typeof usageSchema>;

/** A stored line whose type this version does not know. */
export type ForeignLine = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly at: number;
};

/** Validates a stored line. Unknown fields and lines of unknown types are preserved. */
export function checkedLine(stored: object): LoggedEvent | ForeignLine {
  const { data } = loggedEventSchema.safeParse(stored);
  return data === undefined ? (stored as ForeignLine) : { ...stored, ...data };
}
