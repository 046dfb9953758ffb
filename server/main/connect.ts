// Not composed yet: the functions by which the command reaches a backend.

import type { Client } from '../protocol/api.ts';

export interface OpenClientOptions {
  readonly root: string;
  readonly need: 'data' | 'engine' | 'existing';
  readonly env: NodeJS.ProcessEnv;
  readonly settingsFlags: Record<string, unknown>;
}

export async function openClient(_options: OpenClientOptions): Promise<Client | null> {
  throw new Error('The backend is not there yet.');
}

export async function initProject(
  _root: string,
): Promise<{ root: string; database: string; already: boolean }> {
  throw new Error('The backend is not there yet.');
}

export function findProject(_from: string): string | null {
  return null;
}

export async function doctor(_root: string | null): Promise<{
  backend: { running: boolean; pid: number | null; version: string | null };
  checks: { name: string; ok: boolean; message: string }[];
}> {
  return { backend: { running: false, pid: null, version: null }, checks: [] };
}

export async function runBackend(_options: {
  root: string;
  socket?: string;
  stdio?: boolean;
}): Promise<void> {
  throw new Error('The backend is not there yet.');
}
