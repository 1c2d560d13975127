import { expect, it } from 'vitest'
import { locate, readS3Address } from './s3-address.ts'

const at = (url: string, key = 'blobs/ab') => {
  const { origin, path } = locate(readS3Address(url), key)
  return `${origin.origin}${path}`
}

it('[BLOB-10] the bucket of an S3 address is a label of the host or the first part of the path', () => {
  const endpoint = 'endpoint=https://s3.example.com&region=eu-1'
  expect(at(`s3://media?${endpoint}`)).toBe('https://media.s3.example.com/blobs/ab')
  expect(at(`s3://media?${endpoint}&path_style=true`)).toBe('https://s3.example.com/media/blobs/ab')
  expect(at('s3://media?endpoint=http://localhost:9000/base/&region=r&path_style=true')).toBe(
    'http://localhost:9000/base/media/blobs/ab',
  )
})

it('[BLOB-10] the bucket is in the path for IP addresses and for bucket names that are no host label', () => {
  expect(at('s3://media?endpoint=http://10.0.0.7:9000&region=r')).toBe('http://10.0.0.7:9000/media/blobs/ab')
  expect(at('s3://media?endpoint=http://[::1]:9000&region=r')).toBe('http://[::1]:9000/media/blobs/ab')
  expect(at('s3://media.example?endpoint=https://s3.example.com&region=r')).toBe('https://s3.example.com/media.example/blobs/ab')
})

it('[BLOB-10] the prefix of an S3 address is empty or ends with one slash', () => {
  const prefixOf = (path: string) => readS3Address(`s3://media${path}?endpoint=https://s3.example.com&region=r`).prefix
  expect(['', '/', '/a', '/a/', '/a/b%20c/'].map(prefixOf)).toEqual(['', '', 'a/', 'a/', 'a/b c/'])
})

it('[BLOB-10] keys of objects are percent-encoded as signatures require', () => {
  const url = 's3://media?endpoint=https://s3.example.com&region=r&path_style=true'
  expect(at(url, "a b/(c)'!*+~.ü")).toBe('https://s3.example.com/media/a%20b/%28c%29%27%21%2A%2B~.%C3%BC')
})

it('[BLOB-21] URLs for clients use the public endpoint, and requests of the relay the internal one', () => {
  const address = readS3Address('s3://media?endpoint=http://10.0.0.7:9000&public_endpoint=https://objects.example.com/&region=r')
  expect(address.inner).toEqual({ url: 'http://10.0.0.7:9000', pathStyle: true })
  expect(locate(address, 'blobs/ab')).toMatchObject({ path: '/blobs/ab', origin: new URL('https://media.objects.example.com') })
})
