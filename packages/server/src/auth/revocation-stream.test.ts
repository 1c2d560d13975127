import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PollPart, readPollAnswer } from './revocation-stream.ts'

async function* pieces(text: string | Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text as Uint8Array)
  let at = 0
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? bytes.length
    yield bytes.subarray(at, at + size)
    at += size
  }
}

async function read(text: string | Uint8Array, sizes: readonly number[] = [1 << 20]): Promise<PollPart[]> {
  const parts: PollPart[] = []
  for await (const part of readPollAnswer(pieces(text, sizes))) parts.push(part)
  return parts
}

/** Reads an answer with JSON.parse, as the model for the stream. */
function model(text: string): { entries: unknown[]; nextSince: unknown } {
  const { revocations, next_since: nextSince } = JSON.parse(text) as { revocations: unknown[]; next_since?: unknown }
  return { entries: revocations, nextSince }
}

const outcome = (parts: readonly PollPart[]) => ({
  entries: parts.filter(({ kind }) => kind === 'entry').map(({ value }) => value),
  nextSince: parts.find(({ kind }) => kind === 'next-since')?.value,
})

describe('reading a poll answer as it arrives', () => {
  it('[AUTH-14] a poll answer read in chunks equals JSON.parse for any spacing, members and chunks', async () => {
    const json = fc.jsonValue().filter((value) => JSON.stringify(value).length < 10_000)
    const answer = fc.record(
      { before: json, revocations: fc.array(json, { maxLength: 6 }), next_since: json, after: json },
      { requiredKeys: ['revocations'] },
    )
    await fc.assert(
      fc.asyncProperty(
        answer,
        fc.constantFrom(0, 1, 3),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
        async (value, indent, sizes) => {
          const text = JSON.stringify(value, null, indent)
          expect(outcome(await read(text, sizes))).toEqual(model(text))
        },
      ),
      { numRuns: 500 },
    )
  })

  it.each([
    '',
    '[]',
    'null',
    '<!doctype html><title>x</title>',
    '{}',
    '{"next_since":"x"}',
    '{"revocations":null}',
    '{"revocations":{}}',
    '{"revocations":[],"revocations":[]}',
    '{"revocations":[]',
    '{"revocations":[{"jti":"a"}',
    '{"revocations":[{"jti":"a"},]}',
    '{"revocations":[,{"jti":"a"}]}',
    '{"revocations":[{"jti":"a"} {"jti":"b"}]}',
    '{"revocations":[],}',
    '{,"revocations":[]}',
    '{"revocations" []}',
    '{"revocations":[}',
    '{"revocations":[]}}',
    '{"revocations":[]} x',
    '{revocations:[]}',
    '{"a":,"revocations":[]}',
    '{"a":nul,"revocations":[]}',
    '{"a":1 2,"revocations":[]}',
    '{"revocations":[{"jti":}]}',
  ])('[AUTH-14] [A-8] the poll answer %j is refused', async (text) => {
    for (const sizes of [[1], [3], [1_000]]) await expect(read(text, sizes)).rejects.toThrow(SyntaxError)
  })

  it('[AUTH-14] invalid UTF-8 is refused', async () => {
    await expect(
      read(Buffer.concat([Buffer.from('{"revocations":["'), Buffer.from([0xff]), Buffer.from('"]}')])),
    ).rejects.toThrow()
  })

  it('[AUTH-14] [A-8] an endless member is not collected in memory', async () => {
    await expect(read(`{"revocations":["${'x'.repeat(100_000)}"]}`, [1_000])).rejects.toThrow('too long')
  })
})
