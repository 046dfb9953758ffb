// The part of the worker contract's protocol that a client reads. Separate, because the runtime,
// which writes it, starts faster without the schema package.

import * as z from 'zod';

/**
 * The standard runtime sends 32 lower-case hex digits. A client accepts anything that is safe in a
 * path.
 */
const jobIdPattern = /^[A-Za-z0-9_-]{1,128}$/;
/** §3: the response to `POST /exec`. */
export const execReplySchema = z.object({ job_id: z.string().regex(jobIdPattern) });
/**
 * §5.1, §11: the data of one event. Lines without `stream` and lines with `"done":false` occur;
 * unknown fields are dropped. `partial` (§9): more of the same line follows on the same stream.
 */
export const lineEventSchema = z.object({
  stream: z.string().optional(),
  line: z.string().optional(),
  partial: z.boolean().optional(),
  done: z.literal(false).optional(),
});
/** `exit_code` is -1 if a signal ended the command. `signal` (§9) is its name without SIG. */
export const doneEventSchema = z.object({
  done: z.literal(true),
  exit_code: z.int(),
  signal: z.string().optional(),
});
export const workerEventSchema = z.union([doneEventSchema, lineEventSchema]);
export type LineEvent = z.infer<typeof lineEventSchema>;
export type DoneEvent = z.infer<typeof doneEventSchema>;
export type WorkerEvent = z.infer<typeof workerEventSchema>;
