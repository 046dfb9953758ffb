// The upload of one job: packed as soon as it is planned, and sent when its worker responds.

import { setTimeout as delay } from 'node:timers/promises';
import { err, ok, type Result } from '../../core/failure.ts';
import type { UploadCaps } from './exclusion.ts';
import { type JobFile, packUpload, type SentEntry } from './pack.ts';
import type { WorkerAddress } from './request.ts';
import type { UploadPlan } from './upload-plan.ts';
import { uploadWorkspace } from './worker-calls.ts';

export interface UploadTrouble {
  /** The network failed, so another worker may receive it. */
  readonly again: boolean;
  readonly message: string;
}

export interface BegunUpload {
  send(
    worker: WorkerAddress,
    signal: AbortSignal,
  ): Promise<Result<ReadonlyMap<string, SentEntry>, UploadTrouble>>;
  /** Stops packing and sending. Does nothing after the end. */
  drop(): void;
}

export function beginUpload(
  plan: UploadPlan,
  files: readonly JobFile[],
  caps: UploadCaps,
): BegunUpload {
  const { body, sent } = packUpload(plan, files, caps);
  const packed = sent.then(
    (entries) => ok(entries),
    (error: unknown) => err(error instanceof Error ? error.message : String(error)),
  );
  // An error before anything is sent is reported by `packed`.
  body.on('error', () => undefined);
  return {
    send: async (worker, signal) => {
      const problem = await uploadWorkspace(worker, body, signal);
      if (problem !== null) {
        // A file that cannot be packed ends the body, and its reason is reported instead of the
        // broken connection. A refused upload is not packed to its end.
        const isSent = await Promise.race([packed, delay(0, null)]);
        body.destroy();
        if (isSent?.ok === false) return err({ again: false, message: isSent.error });
        return err({ again: problem.startsWith('The upload was interrupted'), message: problem });
      }
      const all = await packed;
      return all.ok ? all : err({ again: false, message: all.error });
    },
    drop: () => void body.destroy(),
  };
}
