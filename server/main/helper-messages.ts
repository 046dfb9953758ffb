// What the backend and its helper process say to each other.

import type { GitOutput, GitRequest } from '../git/run-once.ts';

export type ToHelper =
  /** Sent once for each environment, before the first process that runs in it. */
  | {
      readonly kind: 'environment';
      readonly number: number;
      readonly variables: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'git';
      readonly id: number;
      readonly environment: number;
      readonly request: Omit<GitRequest, 'environment'>;
    }
  | { readonly kind: 'abort'; readonly id: number };

export type FromHelper =
  | { readonly kind: 'ready' }
  | { readonly kind: 'output'; readonly id: number; readonly output: GitOutput }
  /** Not even tried: the request itself is wrong. */
  | { readonly kind: 'threw'; readonly id: number; readonly message: string };
