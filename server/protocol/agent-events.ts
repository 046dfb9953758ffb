// The events of an agent, one per line of its log: the schema, and the types that drivers write and
// panels read. Panels import only the types; the backend checks a line when it reads it.

import * as z from 'zod';

/**
 * A line may come from another version or another program: a missing field gets the most neutral
 * value.
 */
const text = z.string().catch('');
const count = z.number().catch(0);
const orNull = z.number().nullable().catch(null);

const usageSchema = z
  .object({
    inputTokens: count,
    outputTokens: count,
    cacheReadTokens: count,
    /** An estimate from list prices; null = the agent does not report it. */
    costUsd: orNull,
  })
  .readonly()
  .catch({ inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, costUsd: null });

const at = { at: count };

const loggedEventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('started'),
    /** The kind of agent; a text, as another version may know further ones. */
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
    /** Drover stopped it: for a pause, a cancel or the end of a run. */
    stopped: z.literal(true).optional().catch(undefined),
    /** Processes that it had left running, and that were ended then. */
    ended: z.number().optional().catch(undefined),
    /** Processes of it that live after that, counted by the kernel. */
    left: z.number().optional().catch(undefined),
    ...at,
  }),
]);

/** An event as it is stored and read: with the time it was seen (Unix ms). */
export type LoggedEvent = Readonly<z.infer<typeof loggedEventSchema>>;

type WithoutTime<Event> = Event extends unknown ? Omit<Event, 'at'> : never;

/** An event that a driver reports about its agent: a line of the log before it has its time. */
export type AgentEvent = WithoutTime<LoggedEvent>;

export type Usage = z.infer<typeof usageSchema>;

/** A line whose type this version does not know, as it is stored. */
export type ForeignLine = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly at: number;
};

/**
 * Checks a line as it was stored; fields that no schema names stay, and so does a line of an
 * unknown type.
 */
export function checkedLine(stored: object): LoggedEvent | ForeignLine {
  const { data } = loggedEventSchema.safeParse(stored);
  return data === undefined ? (stored as ForeignLine) : { ...stored, ...data };
}
