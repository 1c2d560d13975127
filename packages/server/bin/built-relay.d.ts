export function relayProgram(server: string): { readonly program: string; readonly isStale: boolean }
export function stampOfSources(packages: string): string
export function relaySources(packages: string): readonly string[]
