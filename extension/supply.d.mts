/** Whether work under this licence (an expression of SPDX) may be shipped within Drover. */
export function isAccepted(licence: string): boolean;
