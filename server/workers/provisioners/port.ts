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
  /** Names this clone: an instance of another owner is never touched. */
  readonly owner: string;
  /** Secret of this instance alone, for `AGENT_TOKEN`. */
  readonly token: string;
  /** The agent's variables: its model's credential and those that settings name. */
  readonly env: Readonly<Record<string, string>>;
  readonly image: string | null;
  /** How long the instance may live, for provisioners that can end it by themselves. */
  readonly ttlMs: number;
}

/** How something of an instance is started here. */
export interface OwnStart {
  readonly program: string;
  readonly args: readonly string[];
}

/** The same start, by way of whatever lets it outlive the run that asks for it. */
export type StartOutside = (marker: string, start: OwnStart) => OwnStart;

/** How an instance is found again; stored in its lease, so it holds no secret. */
export interface InstanceRef {
  readonly name: string;
  /** The provisioner's own id. Null if the creation did not finish. */
  readonly id: string | null;
}

export interface Instance extends InstanceRef {
  readonly id: string;
  readonly url: string;
  /** A socket file of the user alone that leads to `url`, if it has no port on this machine. */
  readonly socketPath?: string;
  readonly token: string;
  /** Ends the process that serves this instance (a tunnel). */
  readonly close?: () => Promise<void>;
}

export interface ProvisionerCapabilities {
  /** `create` hands variables to the agent. */
  readonly env: boolean;
  readonly list: boolean;
  /** The agent's program must be found by name there; otherwise the same paths hold as here. */
  readonly foreignPaths: boolean;
}

/** Why no instance exists. `isCertain`: none was created, so none must be destroyed. */
export interface CreateFailure {
  readonly message: string;
  readonly isCertain: boolean;
}

/** The key by which a host proves itself, if it is refused. */
export interface HostKey {
  readonly host: string;
  /** ED25519, RSA … */
  readonly kind: string;
  /** `SHA256:…` */
  readonly fingerprint: string;
  /** Another key of this host is known: this one is never accepted. */
  readonly isChanged: boolean;
  /** The file of that other key. Null if unknown or not reported. */
  readonly knownAt: string | null;
}

/** How a person accepts the key of a host. */
export interface HostKeys {
  /** Null if it is not refused, as far as can be known. */
  refused(): Promise<Result<HostKey | null, string>>;
  /**
   * Keeps the key that has this fingerprint. Returns null if it is kept or already known, or else
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
   * Also destroys an instance whose creation failed halfway. It no longer exists if this is ok; an
   * instance that does not exist is not an error.
   */
  destroy(ref: InstanceRef): Promise<Result<null, string>>;
  /**
   * True only if it is certain that nothing serves the instance any more; absent if that cannot be
   * known.
   */
  isGone?(ref: InstanceRef): Promise<boolean>;
  /** Instances of this owner that exist now. */
  list(owner: string): Promise<Result<readonly InstanceRef[], string>>;
  /** Present if workers run on a host with a key. */
  readonly hostKeys?: HostKeys;
}
