// The interface of provisioners for the execution client. Adapters: process, static, ssh, hook,
// docker, unikraft, hosted.

import type { Result } from '../../core/failure.ts';

export const provisionerKinds = [
  'process',
  'static',
  'ssh',
  'hook',
  'docker',
  'unikraft',
  'hosted',
] as const;
export type ProvisionerKind = (typeof provisionerKinds)[number];

export interface InstanceSpec {
  /**
   * Chosen before the creation, so that an instance is found again after a crash: `drv-<8
   * hex>-<n>`.
   */
  readonly name: string;
  /** Identifies this clone. An instance of another owner is never touched. */
  readonly owner: string;
  /** Secret of this instance only, for `AGENT_TOKEN`. */
  readonly token: string;
  /** The agent's variables: its model's credential and those that settings name. */
  readonly env: Readonly<Record<string, string>>;
  readonly image: string | null;
  /** How long the instance may live, for provisioners that can end it themselves. */
  readonly ttlMs: number;
}

/** How a local program for an instance is started. */
export interface OwnStart {
  readonly program: string;
  readonly args: readonly string[];
}

/** Wraps the start so that the program outlives the run that requests it. */
export type StartOutside = (marker: string, start: OwnStart) => OwnStart;

/** How an instance is found again. Stored in its lease, so it contains no secret. */
export interface InstanceRef {
  readonly name: string;
  /** The provisioner's id. Null if the creation did not finish. */
  readonly id: string | null;
}

export interface Instance extends InstanceRef {
  readonly id: string;
  readonly url: string;
  /**
   * A socket file, accessible only to the user, that leads to `url` if it has no port on this
   * machine.
   */
  readonly socketPath?: string;
  readonly token: string;
  /** Ends the local process that serves this instance (a tunnel). */
  readonly close?: () => Promise<void>;
}

export interface ProvisionerCapabilities {
  /** `create` passes variables to the agent. */
  readonly env: boolean;
  readonly list: boolean;
  /** The agent's program must be found by name there; otherwise the same paths apply as here. */
  readonly foreignPaths: boolean;
}

/** Why no instance exists. `isCertain`: none was created, so none must be destroyed. */
export interface CreateFailure {
  readonly message: string;
  readonly isCertain: boolean;
}

/** The key that identifies a host, if it is refused. */
export interface HostKey {
  readonly host: string;
  /** ED25519, RSA and so on. */
  readonly kind: string;
  /** `SHA256:…` */
  readonly fingerprint: string;
  /** A different key of this host is known, so this one is never accepted. */
  readonly isChanged: boolean;
  /** The file with that other key. Null if unknown or not reported. */
  readonly knownAt: string | null;
}

/** How the user accepts a host's key. */
export interface HostKeys {
  /** Null if it is not refused, as far as can be determined. */
  refused(): Promise<Result<HostKey | null, string>>;
  /**
   * Stores the key with this fingerprint. Returns null if it is stored or already known, otherwise
   * the reason.
   */
  accept(fingerprint: string): Promise<string | null>;
  sentence(key: HostKey): string;
}

export interface Provisioner {
  readonly kind: ProvisionerKind;
  readonly capabilities: ProvisionerCapabilities;
  create(spec: InstanceSpec, signal: AbortSignal): Promise<Result<Instance, CreateFailure>>;
  /**
   * Also destroys an instance whose creation was interrupted. If this succeeds, the instance no
   * longer exists. A missing instance is not an error.
   */
  destroy(ref: InstanceRef): Promise<Result<null, string>>;
  /**
   * Returns true only if the instance is certainly not served any more. Absent if that cannot be
   * determined.
   */
  isGone?(ref: InstanceRef): Promise<boolean>;
  /** This owner's existing instances. */
  list(owner: string): Promise<Result<readonly InstanceRef[], string>>;
  /** Present if workers run on a host with a key. */
  readonly hostKeys?: HostKeys;
}
