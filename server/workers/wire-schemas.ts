// The part of the worker contract's wire that a client reads. Apart from the rest: the runtime,
// which writes it, starts faster without the package of the schemas.

import * as z from 'zod';

/** Stock sends 32 lowercase hex digits; a client accepts anything that is safe within a path. */
const jobIdPattern = /^[A-Za-z0-9_-]{1,128}$/;
/** §3: the answer to `POST /exec`. */
export const execReplySchema = z.object({ job_id: z.string().regex(jobIdPattern) });
/**
 * §5.1, §11: the data of one event. A line without `stream` and one with `"done":false` occur;
 * unknown fields are dropped. `partial` (§9): more of the same line follows on the same stream.
 */
export const lineEventSchema = z.object({
  stream: z.string().optional(),
  line: z.string().optional(),
  partial: z.boolean().optional(),
  done: z.literal(false).optional(),
});
/** `exit_code` is -1 if a signal ended the command; `signal` (§9) is its name without SIG. */
export const doneEventSchema = z.object({
  done: z.literal(true),
  exit_code: z.int(),
  signal: z.string().optional(),
});
export const workerEventSchema = z.union([doneEventSchema, lineEventSchema]);
export type LineEvent = z.infer<typeof lineEventSchema>;
export type DoneEvent = z.infer<typeof doneEventSchema>;
export type WorkerEvent = z.infer<typeof workerEventSchema>;
