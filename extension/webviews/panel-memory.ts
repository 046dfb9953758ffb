// The subjects of this workspace's panels by tab title, because nothing else is known about a tab
// whose extension host has died.

import type { Memento } from 'vscode';
import { panelNames, type PanelName } from '../ids.ts';
import { readSubject, subjectKey, type Subject } from './panel-subject.ts';

interface Remembered {
  readonly name: PanelName;
  readonly title: string;
  readonly subject: Subject;
}

const memoryKey = 'drover.panels';
const rememberedMax = 100;

export class PanelMemory {
  readonly #memory: Memento;

  constructor(memory: Memento) {
    this.#memory = memory;
  }

  remember(name: PanelName, title: string, subject: Subject): void {
    const key = subjectKey(name, subject);
    const others = this.#all().filter((each) => subjectKey(each.name, each.subject) !== key);
    const all = [{ name, title, subject }, ...others].slice(0, rememberedMax);
    void this.#memory.update(memoryKey, all);
  }

  /** Newest first; several if titles are equal. */
  subjectsOf(name: PanelName, title: string): readonly Subject[] {
    return this.#all()
      .filter((each) => each.name === name && each.title === title)
      .map(({ subject }) => subject);
  }

  titleOf(name: PanelName, subject: Subject): string | null {
    const key = subjectKey(name, subject);
    return this.#all().find((each) => subjectKey(each.name, each.subject) === key)?.title ?? null;
  }

  #all(): readonly Remembered[] {
    const raw: unknown = this.#memory.get(memoryKey);
    return Array.isArray(raw) ? raw.flatMap(readRemembered) : [];
  }
}

function readRemembered(raw: unknown): readonly Remembered[] {
  if (typeof raw !== 'object' || raw === null) return [];
  const { name, title, subject } = raw as Readonly<Record<string, unknown>>;
  const known = panelNames.find((each) => each === name);
  if (known === undefined || typeof title !== 'string') return [];
  return [{ name: known, title, subject: readSubject(subject) }];
}
