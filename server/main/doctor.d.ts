export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
}
export interface Doctor {
  readonly backend: {
    readonly running: boolean;
    readonly pid: number | null;
    readonly version: string | null;
  };
  readonly checks: readonly Check[];
}
export declare function doctor(root: string | null): Promise<Doctor>;
