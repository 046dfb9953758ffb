/** Whether work under this licence (an expression of SPDX) may be shipped within Drover. */
export function isAccepted(licence: string): boolean;

export interface BundledPackage {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly home: string;
  readonly texts: readonly string[];
}

export interface BillOfMaterials {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly component: { readonly name: string; readonly 'bom-ref': string } };
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly type: string;
    readonly purl: string;
    readonly licenses?: readonly unknown[];
    readonly hashes?: readonly unknown[];
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

export declare function packageAt(root: string, folder: string): BundledPackage;

export declare function billOfMaterials(
  root: string,
  packages: readonly BundledPackage[],
): BillOfMaterials;
