export function installOptions(set: 'all' | 'try-out', nodeVersion: string): string[]
export function stripsTypes(version: string): boolean
export function stampOf(set: 'all' | 'try-out', lockText: string): string
export function installedSet(found: {
  readonly lockText: string
  readonly stamp: string | null
  readonly copyText: string | null
}): 'all' | 'try-out' | null
