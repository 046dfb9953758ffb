// The settings of a backend or a command: read from files, the environment and flags, and reloaded
// on request.

import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { loadSettings, type SettingsRequest, userSettingsPath } from '../config/load.ts';
import { boundSettingKeys } from '../core/settings/bound-settings.ts';
import { Refusal } from '../core/failure.ts';
import {
  type FleetSettingKey,
  fleetSettingKeys,
  readFleetSettings,
} from '../core/settings/fleet-settings.ts';
import { type RetentionSettingKey, retentionSettingTable } from '../core/settings/retention.ts';
import type { SettingKey, Settings } from '../core/settings/settings.ts';
import { type WebhookSettingKey, webhookSettingTable } from '../core/settings/webhook-endpoints.ts';
import {
  acceptSettings,
  type HeldSetting,
  heldSentence,
  type JudgedSettings,
  judgeSettings,
  unacceptedSentence,
  type SettingsView,
} from './accepted-settings.ts';
import { type Powers, sameValue, withPowers } from '../core/settings/accepted-settings.ts';
import { requiresSandbox } from '../core/settings/policy.ts';
import { readPolicies } from './policy-files.ts';
import type { LoadedSettings, SettingEntry } from '../core/settings/settings-resolve.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
export type SettingFlags = SettingsRequest['flags'];
type Report = (error: unknown, where: string) => void;

const changeableKeys: readonly SettingKey[] = [
  ...boundSettingKeys,
  'worktree.disk_limit',
  ...(Object.keys(webhookSettingTable) as WebhookSettingKey[]),
  ...(Object.keys(retentionSettingTable) as RetentionSettingKey[]),
];

/** The current settings. Reloaded for each run and each command. */
export class LiveSettings {
  readonly #root: string;
  environment: Environment;
  #flags: SettingFlags;
  #usedFlags = '';
  #loaded: LoadedSettings;
  #judged: JudgedSettings;
  #accepted: Settings;
  #offered: Settings;
  readonly #listeners = new Set<() => void>();
  /** Counts changes of the settings in force, after which values read before are outdated. */
  #changes = 0;

  private constructor(
    root: string,
    environment: Environment,
    flags: SettingFlags,
    { loaded, judged, accepted, offered }: Loading,
  ) {
    this.#root = root;
    this.environment = environment;
    this.#flags = flags;
    this.#loaded = loaded;
    this.#judged = judged;
    this.#accepted = accepted;
    this.#offered = offered;
  }

  static async load(
    root: string,
    environment: Environment,
    flags: SettingFlags,
    view: SettingsView = 'offered',
  ): Promise<LiveSettings> {
    return new LiveSettings(root, environment, flags, await load(root, environment, flags, view));
  }

  /** Loads the settings for a command that needs nothing else. A problem is a refusal. */
  static async loadValid(root: string, environment: Environment): Promise<LiveSettings> {
    const live = await LiveSettings.load(root, environment, {});
    refuseProblems(live.#loaded);
    return live;
  }

  /**
   * A copy with the values that a run started now would use. A preview or a refused run therefore
   * changes nothing here. A problem is a refusal.
   */
  async offer(environment: Environment, flags: SettingFlags): Promise<LiveSettings> {
    const loading = await load(this.#root, environment, flags, 'offered');
    refuseProblems(loading.loaded);
    const loaded = this.#stillThisMachine(loading.loaded);
    return new LiveSettings(this.#root, environment, flags, { ...loading, loaded });
  }

  /**
   * Called when the run of this offer can no longer be refused. Accepts the repository's settings
   * that it uses and puts all of them in force. Returns the new ones.
   */
  async use(offer: LiveSettings): Promise<readonly string[]> {
    const news = await acceptSettings(this.#root, offer.#judged);
    this.environment = offer.environment;
    const judged = { ...offer.#judged, accepted: offer.#judged.used };
    const { settings: accepted, loaded, offered } = offer;
    this.#putInForce({ loaded, judged, accepted, offered }, offer.#flags);
    return [...news, ...this.held.map(heldSentence)];
  }

  /**
   * Reads the files again. If they have errors, the last valid settings stay in use. Changes by a
   * pull are not used until a person accepts them, because no run was started.
   */
  async refresh(): Promise<void> {
    const loading = await this.#readAgain();
    if (loading !== null) this.#putInForce(loading, this.#flags);
  }

  /**
   * The current content of the files. Returns null if it must not replace the settings in force. If
   * a run changes the settings during the read, the files are read again.
   */
  async #readAgain(): Promise<Loading | null> {
    for (;;) {
      const changes = this.#changes;
      const loading = await load(this.#root, this.environment, this.#flags, 'accepted');
      if (loading.loaded.problems.length > 0) return null;
      if (changes === this.#changes) return loading;
    }
  }

  #putInForce(loading: Loading, flags: SettingFlags): void {
    this.#changes += 1;
    this.#loaded = this.#stillThisMachine(loading.loaded);
    this.#take(loading);
    this.#flags = flags;
    // A run started by another machine reads them again, as accepted here.
    this.#usedFlags = '';
  }

  /**
   * Only values that a person accepted. For everything that starts programs or contacts hosts
   * outside of a run.
   */
  get accepted(): Settings {
    return this.#accepted;
  }

  /** The values that a run started now would use. For display only. */
  get offered(): Settings {
    return this.#offered;
  }

  /** Calls back when the accepted values change. Returns a function that unsubscribes. */
  onAccepted(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Why the project's own values in these groups are not used yet. Returns null if they are. */
  unaccepted(...groups: readonly string[]): string | null {
    return unacceptedSentence(this.#judged, groups);
  }

  /** Called before something is started or contacted that only the project names. */
  refuseUnaccepted(...groups: readonly string[]): void {
    const message = this.unaccepted(...groups);
    if (message !== null) throw new Refusal('unaccepted', message);
  }

  #take(read: Pick<Loading, 'judged' | 'accepted'> & Partial<Loading>): void {
    const before = this.#judged.accepted;
    this.#judged = read.judged;
    this.#accepted = read.accepted;
    this.#offered = read.offered ?? this.#offered;
    if (sameValue(before, read.judged.accepted)) return;
    for (const listener of this.#listeners) listener();
  }

  get judged(): JudgedSettings {
    return this.#judged;
  }

  /** Settings of the repository whose values in the file are not used. */
  get held(): readonly HeldSetting[] {
    return this.#judged.held;
  }

  /**
   * Only budgets, the machine's reserved resources, webhooks and retention can change during a run.
   */
  async refreshBounds(): Promise<void> {
    const loading = await this.#readAgain();
    if (loading === null) return;
    this.#take(loading);
    const { loaded } = loading;
    const { budget, machine, webhooks, retention } = loaded.settings;
    const values = { ...this.#loaded.values };
    for (const key of changeableKeys) values[key] = loaded.values[key];
    const settings = { ...this.#loaded.settings, budget, machine, webhooks, retention };
    this.#loaded = { ...this.#loaded, values, settings };
  }

  /**
   * A machine's role in the fleet is set when its backend starts, never by a client that requests a
   * run.
   */
  #stillThisMachine(loaded: LoadedSettings): LoadedSettings {
    const values = { ...loaded.values };
    for (const key of fleetSettingKeys) values[key] = this.#loaded.values[key];
    const { name } = this.#loaded.settings.fleet;
    const agents = loaded.settings.maxWorkers;
    const get = <T>(key: FleetSettingKey): T => values[key].value as T;
    const fleet = readFleetSettings(get, { name, agents });
    return { ...loaded, values, settings: { ...loaded.settings, fleet } };
  }

  /**
   * The flags of a run that was started on another machine. Unreadable flags leave the settings
   * unchanged.
   */
  async useFlags(json: string, report: Report): Promise<void> {
    if (json === this.#usedFlags) return;
    try {
      const flags = JSON.parse(json) as SettingFlags;
      const loading = await load(this.#root, this.environment, flags, 'accepted');
      refuseProblems(loading.loaded);
      this.#putInForce(loading, flags);
      this.#usedFlags = json;
    } catch (error) {
      report(error, 'taking over the flags of a run');
    }
  }

  get loaded(): LoadedSettings {
    return this.#loaded;
  }

  get settings(): Settings {
    return this.#loaded.settings;
  }

  /** The folder of the user's settings, which is the same for all projects. */
  get userFolder(): string {
    const { environment: env } = this;
    return dirname(userSettingsPath({ home: homeOf(env), env }));
  }
}

function homeOf(environment: Environment): string {
  return environment['HOME'] ?? homedir();
}

function refuseProblems({ problems: [problem] }: LoadedSettings): void {
  if (problem !== undefined) throw new Refusal('bad_configuration', problem.message);
}

interface Loading {
  readonly loaded: LoadedSettings;
  readonly judged: JudgedSettings;
  readonly accepted: Settings;
  readonly offered: Settings;
}

async function load(
  root: string,
  environment: Environment,
  flags: SettingFlags,
  view: SettingsView,
): Promise<Loading> {
  let judged: JudgedSettings = nothingJudged;
  const needsSandbox = requiresSandbox(await readPolicies());
  const request = { root, home: homeOf(environment), env: environment, flags, needsSandbox };
  const loaded = await loadSettings({
    ...request,
    judge: async (entries) => {
      judged = await judgeSettings(root, entries, view);
      return judged.entries;
    },
  });
  const withOnly = async (powers: Powers): Promise<Settings> => {
    if (sameValue(powers, judged.used)) return loaded.settings;
    const judge = (entries: readonly SettingEntry[]): Promise<readonly SettingEntry[]> =>
      Promise.resolve(withPowers(entries, powers));
    return (await loadSettings({ ...request, judge })).settings;
  };
  const accepted = await withOnly(judged.accepted ?? {});
  return { loaded, judged, accepted, offered: await withOnly(judged.offered) };
}

const nothingJudged: JudgedSettings = {
  entries: [],
  held: [],
  present: {},
  used: {},
  offered: {},
  accepted: null,
};
