// Findings of reviewing agents in the Problems panel, until the work lands or is reviewed again.

import { join } from 'node:path';
import * as vscode from 'vscode';
import { fileInside } from '../links/file-inside.ts';
import { plainText } from '../notices/plain-text.ts';
import type { Project } from '../project/project.ts';
import type { Projects } from '../project/projects.ts';
import { findingPlaces, openReviews } from './open-reviews.ts';

const textMax = 1_000;

export class ReviewProblems implements vscode.Disposable {
  readonly #problems = vscode.languages.createDiagnosticCollection('drover-review');
  readonly #projects: Projects;
  readonly #off: vscode.Disposable;
  /** The states that are shown. */
  #shown = '';
  #isReading = false;

  constructor(projects: Projects) {
    this.#projects = projects;
    this.#off = projects.onChange(() => void this.#update());
  }

  dispose(): void {
    this.#off.dispose();
    this.#problems.dispose();
  }

  async #update(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      for (;;) {
        const open = this.#projects.all.flatMap((project) =>
          openReviews(project.board).map((review) => ({ project, ...review })),
        );
        const states = open.map(({ project, task, state }) => `${project.root} ${task} ${state}`);
        if (states.join('\n') === this.#shown) return;
        this.#shown = states.join('\n');
        const found = new Map<string, vscode.Diagnostic[]>();
        for (const { project, task } of open) await addProblems(project, task, found);
        this.#problems.clear();
        for (const [file, all] of found) this.#problems.set(vscode.Uri.file(file), all);
      }
    } catch {
      // The backend has ended; its next board brings the reviews again.
      this.#shown = '';
    } finally {
      this.#isReading = false;
    }
  }
}

/** Findings in files that the person's own checkout has. */
async function addProblems(
  project: Project,
  task: string,
  found: Map<string, vscode.Diagnostic[]>,
): Promise<void> {
  const review = await project.request('review.show', { id: task });
  for (const { path, line, isError, text } of findingPlaces(review)) {
    const file = await fileInside(join(project.root, path), [project.root]);
    if (file === null) continue;
    const range = new vscode.Range(line - 1, 0, line - 1, Number.MAX_SAFE_INTEGER);
    const { Error: error, Warning: warning } = vscode.DiagnosticSeverity;
    const problem = new vscode.Diagnostic(
      range,
      plainText(text, textMax),
      isError ? error : warning,
    );
    problem.source = 'Drover review';
    found.set(file, [...(found.get(file) ?? []), problem]);
  }
}
