// The projects that pages can choose from, each with its connection. A backend that starts adds its
// project while pages are open. A project whose folder was deleted is removed.

import type { ToPage, WebProject } from '../protocol/web/wire.ts';
import { ProjectLink, type ProjectLinkOptions } from './project-link.ts';

export interface ProjectLinksOptions {
  /** Reads the existing projects. */
  readonly read: () => readonly WebProject[];
  readonly open: ProjectLinkOptions['open'];
  readonly tell: (message: ToPage) => void;
}

const readEveryMs = 2_000;

export class ProjectLinks {
  readonly #options: ProjectLinksOptions;
  readonly #links = new Map<string, ProjectLink>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: ProjectLinksOptions) {
    this.#options = options;
    for (const project of options.read()) this.#links.set(project.id, this.#linkTo(project));
    this.#timer = setInterval(() => this.#read(), readEveryMs).unref();
  }

  get all(): readonly ProjectLink[] {
    return [...this.#links.values()];
  }

  find(id: string): ProjectLink | null {
    return this.#links.get(id) ?? null;
  }

  close(): void {
    clearInterval(this.#timer);
    for (const link of this.#links.values()) link.close();
  }

  #read(): void {
    const projects = this.#options.read();
    const added = projects.filter(({ id }) => !this.#links.has(id));
    const gone = this.all.filter(({ project }) => !projects.some(({ id }) => id === project.id));
    for (const project of added) this.#links.set(project.id, this.#linkTo(project));
    for (const link of gone) {
      link.close();
      this.#links.delete(link.project.id);
    }
    if (added.length + gone.length > 0) this.#options.tell({ type: 'projects', projects });
  }

  #linkTo(project: WebProject): ProjectLink {
    const { open, tell } = this.#options;
    return new ProjectLink({
      project,
      open,
      onConnection: (connection) => tell({ type: 'connection', project: project.id, connection }),
      onFeed: (seq) => tell({ type: 'feed', project: project.id, seq }),
    });
  }
}
