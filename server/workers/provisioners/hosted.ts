// The hosted path as a provisioner: the platform creates the instances. Its jobs are listed by
// their leases, and destroying one cancels it.

import { err, ok } from '../../core/failure.ts';
import { cancelHostedJob } from '../hosted/platform-calls.ts';
import type { WorkerAddress } from '../client/request.ts';
import type { Provisioner } from './port.ts';

export interface HostedOptions {
  /** A sentence names the missing setting. */
  readonly platform: WorkerAddress | string;
}

export function createHostedProvisioner({ platform }: HostedOptions): Provisioner {
  return {
    kind: 'hosted',
    capabilities: { env: false, list: false, foreignPaths: true },
    create: async (spec) => {
      if (typeof platform === 'string') return err({ message: platform, isCertain: true });
      return ok({ name: spec.name, id: '', ...platform });
    },
    destroy: async ({ id }) => {
      if (id === null || id === '') return ok(null);
      if (typeof platform === 'string') return err(platform);
      return await cancelHostedJob(platform, id);
    },
    list: async () => ok([]),
  };
}
