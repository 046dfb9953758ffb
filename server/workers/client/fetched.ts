// A result that was downloaded and checked, kept on disk until it is in the worktree. A job whose
// result is here never runs again.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { writeWhole } from '../../files/write-whole.ts';
import type { SentEntry } from './pack.ts';
import type { JobResult } from './unpack.ts';

const sentSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('file'), sha256: z.string(), isExecutable: z.boolean() }),
  z.object({ kind: z.literal('link'), target: z.string() }),
]);
const fileSchema = z.object({
  stored: z.string().nullable(),
  sha256: z.string(),
  isExecutable: z.boolean(),
});
const fetchedSchema = z.object({
  exitCode: z.int(),
  signal: z.string().nullable(),
  sent: z.array(z.tuple([z.string(), sentSchema])),
  files: z.array(z.tuple([z.string(), fileSchema])),
  links: z.array(z.tuple([z.string(), z.string()])),
  jobFiles: z.array(z.tuple([z.string(), z.string()])),
  isComplete: z.boolean(),
  notices: z.array(z.string()),
});

export interface Fetched {
  readonly exitCode: number;
  readonly signal: string | null;
  readonly sent: ReadonlyMap<string, SentEntry>;
  readonly result: JobResult;
}

const fetchedName = 'fetched.json';

export function writeFetched(scratch: string, fetched: Fetched): void {
  const { result } = fetched;
  const content = JSON.stringify({
    exitCode: fetched.exitCode,
    signal: fetched.signal,
    sent: [...fetched.sent],
    files: [...result.files],
    links: [...result.links],
    jobFiles: [...result.jobFiles],
    isComplete: result.isComplete,
    notices: result.notices,
  });
  writeWhole(join(scratch, fetchedName), content);
}

/** Returns null if nothing was downloaded, or if the download did not finish. */
export function readFetched(scratch: string): Fetched | null {
  try {
    const parsed = fetchedSchema.safeParse(
      JSON.parse(readFileSync(join(scratch, fetchedName), 'utf8')),
    );
    if (!parsed.success) return null;
    const { exitCode, signal, sent, files, links, jobFiles, isComplete, notices } = parsed.data;
    const result: JobResult = {
      files: new Map(files),
      links: new Map(links),
      jobFiles: new Map(jobFiles),
      isComplete,
      notices,
    };
    return { exitCode, signal, sent: new Map(sent), result };
  } catch {
    return null;
  }
}
