import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { judgeUrl } from './url-rules.ts'

const ALLOWED = ['files.example', '*.cdn.example', 'xn--bcher-kva.example', '8.8.8.8', '127.0.0.1', 'localhost', 'Upper.Example']
const judged = (text: string) => {
  const verdict = judgeUrl(new URL(text), ALLOWED)
  return verdict.kind === 'allowed' ? 'allowed' : verdict.fault
}

describe('[BLOB-18] the rules of one hop', () => {
  it.each([
    'https://files.example/a?b#c',
    'https://FILES.Example:8443/',
    'https://files.example./',
    'HTTPS:files.example',
    'https:\\\\files.example\\x',
    'ht\ntps://files\t.example/',
    'https://a.cdn.example/',
    'https://a.b.cdn.example/',
    'https://bücher.example/',
    'https://BÜCHER.example/',
    'https://upper.example/',
    'https://8.8.8.8/',
    'https://files。example/',
    'https://localhost/',
  ])('[BLOB-18] %j is allowed by its host name', (text) => expect(judged(text)).toBe('allowed'))

  it.each([
    ['http://files.example/', 'not-https'],
    ['ftp://files.example/', 'not-https'],
    ['file:///etc/passwd', 'not-https'],
    ['data:text/plain,x', 'not-https'],
    ['blob:https://files.example/x', 'not-https'],
    ['wss://files.example/', 'not-https'],
    ['https://user@files.example/', 'user-info'],
    ['https://:secret@files.example/', 'user-info'],
    ['https://files.example@127.0.0.1/', 'user-info'],
    ['https://files.example:443@other.example/', 'user-info'],
    ['https://other.example/', 'host-not-allowed'],
    ['https://xfiles.example/', 'host-not-allowed'],
    ['https://files.example.evil/', 'host-not-allowed'],
    ['https://sub.files.example/', 'host-not-allowed'],
    ['https://cdn.example/', 'host-not-allowed'],
    ['https://xcdn.example/', 'host-not-allowed'],
    ['https://.cdn.example/', 'host-not-allowed'],
    ['https://files.example../', 'host-not-allowed'],
    ['https://9.9.9.9/', 'host-not-allowed'],
    ['https://other.example#@files.example/', 'host-not-allowed'],
    ['https://other.example\\@files.example/', 'host-not-allowed'],
    ['https://files.exаmple/', 'host-not-allowed'],
    ['https://127.0.0.1/', 'blocked-address'],
    ['https://127.1/', 'blocked-address'],
    ['https://[::ffff:7f00:1]/', 'blocked-address'],
  ])('[BLOB-18] %j is refused: %s', (text, fault) => expect(judged(text)).toBe(fault))

  it('[BLOB-18] of random URLs only https ones to a listed host are allowed', () => {
    const pieces = [
      'https:',
      'http:',
      '//',
      '/',
      '\\',
      '@',
      ':',
      '#',
      '?',
      '.',
      'files.example',
      'cdn.example',
      'a',
      '127.0.0.1',
      '[::1]',
      '%2e',
      '443',
      '\t',
      '。',
    ]
    const texts = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 }).map((parts) => `https://${parts.join('')}`)
    let allowed = 0
    fc.assert(
      fc.property(texts, (text) => {
        const url = URL.parse(text)
        if (url === null || judgeUrl(url, ['files.example', '*.cdn.example']).kind === 'refused') return
        allowed++
        expect([url.protocol, url.username, url.password]).toEqual(['https:', '', ''])
        expect(url.hostname).toMatch(/^(files\.example|.+\.cdn\.example)\.?$/)
      }),
      { seed: 27, numRuns: 20_000 },
    )
    expect(allowed).toBeGreaterThan(100)
  })

  it('[BLOB-18] an empty list allows no URL', () => {
    expect(judgeUrl(new URL('https://files.example/'), []).kind).toBe('refused')
  })
})
