// The browsers that were let in, in one file of this user, which contains only hashes of their
// secrets.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { replaceFile } from '../files/write-whole.ts';
import { webRoles, type WebDevice, type WebRole } from '../protocol/web/wire.ts';

interface StoredDevice extends WebDevice {
  /** SHA-256 of the secret in its cookie, in hexadecimal. */
  readonly hash: string;
}

const devicesMax = 50;
const nameMax = 60;
/** The time a device was last seen is written at most this often. */
const seenEveryS = 60;

export class Devices {
  readonly #path: string;
  readonly #nowMs: () => number;
  readonly #onRemoved: (id: string) => void;
  #devices: readonly StoredDevice[];

  /** `onRemoved`: ends the open connections of a removed device. */
  constructor(path: string, nowMs: () => number, onRemoved: (id: string) => void) {
    this.#path = path;
    this.#nowMs = nowMs;
    this.#onRemoved = onRemoved;
    this.#devices = readDevices(path);
  }

  get list(): readonly WebDevice[] {
    return this.#devices.map(withoutHash);
  }

  /** Returns the value of the cookie that identifies it from now on. */
  add(name: string, role: WebRole): { readonly device: WebDevice; readonly cookie: string } {
    const secret = randomBytes(32).toString('base64url');
    const now = Math.floor(this.#nowMs() / 1000);
    const added: StoredDevice = {
      id: randomBytes(6).toString('hex'),
      name: nameFrom(name),
      role,
      added_at: now,
      seen_at: now,
      hash: hashOf(secret),
    };
    const kept = this.#devices.toSorted((a, b) => b.seen_at - a.seen_at).slice(0, devicesMax - 1);
    const gone = this.#devices.filter((device) => !kept.includes(device));
    this.#save([...kept, added]);
    for (const { id } of gone) this.#onRemoved(id);
    return { device: withoutHash(added), cookie: `${added.id}.${secret}` };
  }

  /** The device with this cookie, or null. */
  find(cookie: string): WebDevice | null {
    const [id, secret = ''] = cookie.split('.');
    const device = this.#devices.find((each) => each.id === id);
    if (device === undefined) return null;
    const isSame = timingSafeEqual(Buffer.from(hashOf(secret)), Buffer.from(device.hash));
    if (!isSame) return null;
    const now = Math.floor(this.#nowMs() / 1000);
    if (now - device.seen_at >= seenEveryS) this.#replace({ ...device, seen_at: now });
    return withoutHash(device);
  }

  rename(id: string, name: string): boolean {
    const device = this.#devices.find((each) => each.id === id);
    if (device === undefined) return false;
    this.#replace({ ...device, name: nameFrom(name) });
    return true;
  }

  remove(id: string): boolean {
    const kept = this.#devices.filter((device) => device.id !== id);
    if (kept.length === this.#devices.length) return false;
    this.#save(kept);
    this.#onRemoved(id);
    return true;
  }

  #replace(changed: StoredDevice): void {
    this.#save(this.#devices.map((device) => (device.id === changed.id ? changed : device)));
  }

  #save(devices: readonly StoredDevice[]): void {
    this.#devices = devices;
    replaceFile(this.#path, `${JSON.stringify(devices, null, 1)}\n`);
  }
}

function nameFrom(text: string): string {
  const name = text.replace(/\p{C}/gu, '').trim().slice(0, nameMax);
  return name === '' ? 'Browser' : name;
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function withoutHash({ id, name, role, added_at, seen_at }: StoredDevice): WebDevice {
  return { id, name, role, added_at, seen_at };
}

/** An unreadable file lets no browser in, so each one needs a new link. */
function readDevices(path: string): readonly StoredDevice[] {
  if (!existsSync(path)) return [];
  try {
    const raw: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return Array.isArray(raw) ? raw.filter(isDevice) : [];
  } catch {
    return [];
  }
}

function isDevice(raw: unknown): raw is StoredDevice {
  const { id, name, role, hash, added_at, seen_at } = Object(raw) as Record<string, unknown>;
  return (
    [id, name].every((each) => typeof each === 'string') &&
    webRoles.some((known) => known === role) &&
    /^[0-9a-f]{64}$/u.test(String(hash)) &&
    [added_at, seen_at].every((each) => Number.isFinite(each))
  );
}
