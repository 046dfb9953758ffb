// A worker that the user runs, with its URL and token in the settings. Drover neither creates nor
// destroys it.

import { err, ok } from '../../core/failure.ts';
import { badAddress } from '../client/request.ts';
import type { Provisioner } from './port.ts';

export interface StaticOptions {
  readonly url: string | null;
  /** Null if the variable for it is not set. */
  readonly token: string | null;
  readonly tokenVariable: string;
}

const none = (message: string) => err({ message, isCertain: true });

export function createStaticProvisioner(options: StaticOptions): Provisioner {
  return {
    kind: 'static',
    capabilities: { env: false, list: false, foreignPaths: true },
    create: async ({ name }) => {
      if (options.url === null) return none('set [remote] url to the address of the worker.');
      const problem = badAddress(options.url);
      if (problem !== null) return none(problem);
      if (options.token === null) {
        return none(
          `the variable ${options.tokenVariable} with the token of the worker is not set.`,
        );
      }
      return ok({ name, id: 'static', url: options.url, token: options.token });
    },
    destroy: async () => ok(null),
    list: async () => ok([]),
  };
}
