import { describe, expect, it } from 'vitest'
import { cslItemOf, doiUrl } from './doi.ts'

describe('a DOI', () => {
  it('[REF-10] the URL of a DOI is below the base, whatever characters the DOI has', () => {
    const base = new URL('https://resolver.example/api/')
    expect(doiUrl(base, '10.1000/a(b)<c>?d#e').href).toBe('https://resolver.example/api/10.1000/a(b)%3Cc%3E%3Fd%23e')
    for (const doi of ['10.1000/..', '10.1000/../../admin', '10.1000//x', '10.1000/.']) {
      const { pathname } = doiUrl(base, doi)
      expect(pathname).toMatch(/^\/api\/10\.1000%2F[^/]*$/)
      expect(decodeURIComponent(pathname.slice('/api/'.length))).toBe(doi)
    }
  })
})

describe('an item', () => {
  it('[REF-12] an item without id or DOI gets them, and an item with them keeps them', () => {
    expect(cslItemOf({ type: 'book' }, '10.1000/ABC')).toEqual({ type: 'book', id: '10.1000/abc', DOI: '10.1000/ABC' })
    const own = { id: 'smith', DOI: '10.1000/abc', extra: [1] }
    expect(cslItemOf(own, '10.1000/ABC')).toEqual(own)
  })

  it('[REF-12] [REF-3] an item whose id no library can store gets its DOI as id', () => {
    for (const id of ['', '  ', 'a\u0001', 'x'.repeat(257), 7, null])
      expect(cslItemOf({ id }, '10.1000/ABC')['id'], String(id)).toBe('10.1000/abc')
  })

  it('[REF-12] an HTML entity that names no character stays unchanged', () => {
    const title = '&#55357; &#xDC00; &#0; &#x110000; &nosuch; &#x1F600;'
    expect(cslItemOf({ title }, '10.1000/1')['title']).toBe('&#55357; &#xDC00; &#0; &#x110000; &nosuch; 😀')
  })

  it('[REF-12] tags in title and abstract are turned into text', () => {
    const item = cslItemOf(
      {
        title: 'H<sub>2</sub>O &amp; <i>a</i> &lt; b &#233;',
        abstract: '<jats:p>One.</jats:p><jats:p>Two: 1 < 2.</jats:p>',
        note: '<b>',
      },
      '10.1000/1',
    )
    expect(item).toMatchObject({ title: 'H2O & a < b é', abstract: 'One. Two: 1 < 2.', note: '<b>' })
  })
})
