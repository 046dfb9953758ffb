export interface InitResult {
  readonly root: string;
  readonly database: string;
  readonly already: boolean;
}
/** Makes a project of the repository that holds `folder`; a second call changes nothing. */
export declare function initProject(folder: string): Promise<InitResult>;
