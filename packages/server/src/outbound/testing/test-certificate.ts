import { generateKeyPairSync, sign } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'

export interface TestCertificate {
  readonly key: string
  /** The certificate. It is self-signed, so clients must trust this certificate itself. */
  readonly cert: string
}

const ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]
const COMMON_NAME = [0x55, 0x04, 0x03]
const SUBJECT_ALT_NAME = [0x55, 0x1d, 0x11]
const BASIC_CONSTRAINTS = [0x55, 0x1d, 0x13]

const SEQUENCE = 0x30
const SET = 0x31
const OID = 0x06
const OCTETS = 0x04
const UTF8 = 0x0c

/** Makes a certificate for these names and addresses, valid from an hour ago until in an hour. Node itself cannot make certificates. */
export function makeCertificate(hosts: readonly string[]): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = der(SEQUENCE, der(OID, ECDSA_WITH_SHA256))
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, der(OID, COMMON_NAME), der(UTF8, Buffer.from('docrelay test')))))
  const altNames = der(OCTETS, der(SEQUENCE, ...hosts.map(generalName)))
  const isCa = der(OCTETS, der(SEQUENCE, der(0x01, [0xff])))
  const extensions = der(
    SEQUENCE,
    der(SEQUENCE, der(OID, SUBJECT_ALT_NAME), altNames),
    der(SEQUENCE, der(OID, BASIC_CONSTRAINTS), der(0x01, [0xff]), isCa),
  )
  const body = der(
    SEQUENCE,
    der(0xa0, der(0x02, [2])),
    der(0x02, [1]),
    algorithm,
    name,
    der(SEQUENCE, utcTime(-1), utcTime(1)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  )
  const signature = sign('sha256', body, privateKey)
  const certificate = der(SEQUENCE, body, algorithm, der(0x03, [0], signature))
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  }
}

/** Encodes one DER element: tag, length, content. */
function der(tag: number, ...parts: readonly (Uint8Array | readonly number[])[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part as Uint8Array)))
  const { length } = content
  const head = length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from(head), content])
}

function generalName(host: string): Buffer {
  if (isIPv4(host)) return der(0x87, host.split('.').map(Number))
  if (isIPv6(host)) throw new Error('no IPv6 addresses in test certificates')
  return der(0x82, Buffer.from(host, 'latin1'))
}

function utcTime(hours: number): Buffer {
  const text = new Date(Date.now() + hours * 3_600_000).toISOString()
  return der(0x17, Buffer.from(`${text.slice(2, 19).replace(/[-:T]/g, '')}Z`))
}
