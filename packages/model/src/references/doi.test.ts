import { describe, expect, it } from 'vitest'
import { doiKey, readDoi } from './doi.ts'

describe('reading a DOI', () => {
  it.each([
    ' 10.1000/182 ',
    'doi:10.1000/182',
    'DOI: 10.1000/182',
    'info:doi/10.1000/182',
    'https://doi.org/10.1000/182',
    'http://dx.doi.org/10.1000/182',
    'HTTPS://DOI.ORG/10.1000/182',
  ])('[REF-9] %j is read as a DOI', (text) => expect(readDoi(text)).toBe('10.1000/182'))

  it('[REF-9] a DOI keeps its case, its parts and every printable character', () => {
    for (const doi of ['10.1000.10.2/ABC(1)<2>::a;b', '10.123456789/é/..', '10.1000/%2F']) expect(readDoi(doi)).toBe(doi)
  })

  it.each([
    '',
    '10.1000',
    '10.1000/',
    '10.123/x',
    '10.1234567890/x',
    '10.1000/a b',
    '10.1000/a\u0000',
    '11.1000/x',
    'x10.1000/x',
  ])('[REF-9] %j is not a DOI', (text) => expect(readDoi(text)).toBeNull())

  it('[REF-9] a text that goes on beyond 300 characters is not a DOI', () => {
    expect(readDoi(`doi:10.1000/${'x'.repeat(292)}`)).toHaveLength(300)
    expect(readDoi(`10.1000/${'x'.repeat(293)}`)).toBeNull()
  })

  it('[REF-4] two DOIs are equal whatever prefix and case they are written with', () => {
    const forms = ['10.1000/AbC', ' https://doi.org/10.1000/abc', 'doi: 10.1000/ABC', 'info:doi/10.1000/abc']
    expect(new Set(forms.map(doiKey))).toEqual(new Set(['10.1000/abc']))
    expect(doiKey('10.1000/abd')).not.toBe(doiKey('10.1000/abc'))
  })
})
