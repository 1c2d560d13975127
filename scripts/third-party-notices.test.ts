import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packagesOf, thirdPartyNotices } from './third-party-notices.ts'

it('notices name each package of a bundle once, in its own version, with its licence text; one without a text is refused', (context) => {
  const root = mkdtempSync(join(tmpdir(), 'docrelay-notices-'))
  context.onTestFinished(() => rmSync(root, { recursive: true }))
  const add = (path: string, manifest: object, license?: string): string => {
    const folder = join(root, path)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ version: '1.0.0', license: 'MIT', ...manifest }))
    if (license !== undefined) writeFileSync(join(folder, 'LICENSE.md'), license)
    return folder
  }
  const a = add('node_modules/a', { name: 'a' }, 'Copyright of A\n')
  const b = add('node_modules/a/node_modules/b', { name: 'b', version: '2.0.0' }, 'Copyright of B')
  const c = add('node_modules/@c/c', { name: '@c/c' })
  const folders = packagesOf([`${b}/index.js`, `${a}/src/one.js`, `${a}/src/two.js`, `${c}/index.js`, join(root, 'ours/page.ts')])
  expect(folders).toEqual([b, a, c])
  expect(() => thirdPartyNotices(folders)).toThrow('@c/c 1.0.0 has no licence text')
  writeFileSync(join(c, 'LICENCE'), 'Copyright of C')
  const rule = '-'.repeat(80)
  expect(thirdPartyNotices(folders).split(`\n\n${rule}\n\n`)).toEqual([
    'The code of these packages is part of this one. Their licences:',
    '@c/c 1.0.0 (MIT)\n\nCopyright of C',
    'a 1.0.0 (MIT)\n\nCopyright of A',
    'b 2.0.0 (MIT)\n\nCopyright of B\n',
  ])
})
