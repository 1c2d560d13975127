import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { REST_CODES } from '@docrelay/protocol/rest-codes'
import { expect, it } from 'vitest'
import { ERRORS } from '../../kernel/errors.ts'

const statuses = (table: Readonly<Record<string, { readonly status: number }>>) =>
  Object.entries(table).map(([code, { status }]) => `${code} ${status}`)

it('[REST-14] the client knows exactly the codes of the server, with their statuses', () => {
  expect(statuses(REST_CODES)).toEqual(statuses(ERRORS))
})

it('[REST-14] the client knows exactly the codes of the specification, with their statuses', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../../docs/spec/wire/rest.md'), 'utf8')
  const table = page.slice(page.indexOf('| **REST-14** errorCode'))
  const rows = table.split('\n').flatMap((line) => {
    const [, codes = '', status = ''] = line.split('|').map((cell) => cell.trim())
    if (!/^\d{3}$/.test(status) || codes.includes('(not yet)')) return []
    return codes.split(', ').map((code) => `${code} ${status}`)
  })
  expect(rows.toSorted()).toEqual(statuses(REST_CODES).toSorted())
})
