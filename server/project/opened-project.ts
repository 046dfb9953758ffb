// An opened project, as used by all code that works on it.

import type { GitRepository } from '../git/port.ts';
import type { SharedWork } from '../git/remote/old-work.ts';
import type { LocalRepository } from '../git/local-port.ts';
import type { Store } from '../store/port.ts';
import type { LiveSettings } from './live-settings.ts';
import type { AgentOutput } from '../output/agent-output.ts';
import type { ProjectPlaces } from './project-places.ts';
import type { ReleasedLines } from './released-lines.ts';

export type Report = (error: unknown, where: string) => void;

/** This machine's current role in its fleet, besides running agents. The pulse updates it. */
export interface FleetRole {
  lands: boolean;
  /** Branches on which it does not land although it could. */
  readonly released: ReleasedLines;
  /** Whether it assigns work: no machine that accepts tasks has a newer release. */
  leads: boolean;
  /** Whether it has been connected for long enough to know which machines are dead. */
  knowsDead: () => boolean;
}

export interface Project {
  /** This machine's id in the fleet; '' = no other machine uses the plan. */
  readonly machineId: string;
  /** The fleet's database, for the durable engine; null = the project is in its own file. */
  readonly fleet: {
    readonly url: string;
    /** The URL without the password. */
    readonly shown: string;
    /** Refuses if the machines cannot share the remote. */
    readonly checkRemote: () => Promise<void>;
    readonly clock: {
      readonly aheadMs: number;
      comparing(ask: () => Promise<number>): Promise<void>;
    };
    readonly role: FleetRole;
    /** Snapshots on the shared remote. */
    readonly work: SharedWork;
  } | null;
  readonly places: ProjectPlaces;
  readonly live: LiveSettings;
  readonly store: Store;
  readonly git: GitRepository;
  /** The repository on this machine's disk, on which the other one is based. */
  readonly local: LocalRepository;
  readonly openRepository: () => Promise<GitRepository>;
  /** Output of agents, for and from other machines. */
  readonly output: AgentOutput;
  close(): Promise<void>;
}
