import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readClaims } from '../packages/server/src/auth/claims.ts'
import { readPollAnswer, type PollPart } from '../packages/server/src/auth/revocation-stream.ts'

const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'identity-provider.md'), 'utf8')
const [claims, poll] = [...page.matchAll(/^```json\n([\s\S]*?)\n```$/gm)].map(([, json = '{}']) => JSON.parse(json) as object)

it('[AUTH-4] the claims on the page make a valid token', () => {
  const rules = { issuer: 'https://id.example/realms/acme', audience: 'service-relay', resource: null }
  expect(readClaims({ ...claims }, rules, 1_790_000_001)).toEqual({
    kind: 'read',
    principal: {
      sub: '5f0c9d1e-ann',
      jti: 'b3d2c6a0-7f0e-4a55-9a54-2d6f0f1f4c11',
      expSec: 1_790_003_600,
      memberships: [
        {
          workspaceId: 'acme',
          role: 'member',
          region: 'eu',
          claims: { quotaBytes: 5_368_709_120, editorLimit: 25, maxDocBytes: 0 },
        },
        { workspaceId: 'acme-archive', role: 'viewer', region: undefined, claims: {} },
      ],
    },
  })
})

it('[AUTH-4] the page has a row for every claim that a token needs', () => {
  for (const name of Object.keys(claims ?? {})) expect(page).toMatch(new RegExp(`^\\| \`${name}\` \\|`, 'm'))
  for (const name of ['id', 'role', 'region', 'quota_bytes', 'editor_limit', 'max_doc_bytes'])
    expect(page).toMatch(new RegExp(`^\\| \`${name}\` \\|`, 'm'))
})

it('[AUTH-14] the poll answer on the page can be read by the relay', async () => {
  const parts: PollPart[] = []
  for await (const part of readPollAnswer(bytesOf(JSON.stringify(poll)))) parts.push(part)
  expect(parts.map(({ kind }) => kind)).toEqual(['entry', 'next-since'])
})

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}
