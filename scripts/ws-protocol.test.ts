import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CLIENT_CLOSE, CLOSE_CODES, ERROR_CODES } from '../packages/protocol/src/codes.ts'
import { SYNC, TAG } from '../packages/protocol/src/frames.ts'

const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'ws-protocol.md'), 'utf8')

it('[WS-8] [WS-10] the page has every tag and sub-type', () => {
  const names: Record<string, string> = { syncChunk: 'chunk', syncChunkAck: 'chunkAck' }
  for (const [name, tag] of Object.entries(TAG)) expect(page).toMatch(new RegExp(`^${names[name] ?? name} +:= ${tag}\\b`, 'm'))
  for (const [name, subType] of Object.entries(SYNC))
    expect(page).toMatch(new RegExp(`^${name} +:= varUint\\(${subType}\\)`, 'm'))
})

it('[WS-58] [WS-59] the page has every code in its form', () => {
  for (const [code, form] of Object.entries(ERROR_CODES))
    expect(page).toContain(`| ${code} | ${form === 'bare' ? 'the code' : 'code: text'} |`)
  for (const [code, words] of Object.entries(CLOSE_CODES)) expect(page).toContain(`| ${code} | ${words.join(', ')} |`)
  for (const code of Object.values(CLIENT_CLOSE)) expect(page).toContain(String(code))
})

it('[WS-9] the page has a row for every member of a JSON frame', () => {
  const frames = readFileSync(join(import.meta.dirname, '..', 'packages/protocol/src/frames.ts'), 'utf8')
  const members = page.slice(page.indexOf('### Members'), page.indexOf('### Chunks'))
  const declared = ['AuthFrame', 'AuthResponseFrame', 'JoinDocFrame', 'JoinedFrame', 'DocEventFrame', 'ErrorFrame'].flatMap(
    (name) => {
      const body = new RegExp(`interface ${name} \\{([^}]*)\\}`).exec(frames)?.[1] ?? ''
      return [...body.matchAll(/readonly (\w+)\??:/g)].map(([, member]) => member)
    },
  )
  expect(declared.length).toBeGreaterThan(20)
  expect(declared.filter((member) => !members.includes(`\`${member}\``))).toEqual([])
})
