import { parseArgs } from 'node:util'
import { startDevIssuer } from './dev-issuer.ts'
import { tryOutPeople } from './people.ts'

const USAGE = `Runs an OIDC issuer on 127.0.0.1 for trying out Docrelay. Never for production: anyone can sign in as anyone.

  --port <port>            default 9880
  --data-dir <dir>         where the signing key is kept, default .dev/issuer
  --workspace <id>         the workspace its people belong to, default "default"
  --audience <audience>    default service-relay
  --resource <uri>         default http://127.0.0.1:9877/mcp
`

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '9880' },
    'data-dir': { type: 'string', default: '.dev/issuer' },
    workspace: { type: 'string', default: 'default' },
    audience: { type: 'string', default: 'service-relay' },
    resource: { type: 'string', default: 'http://127.0.0.1:9877/mcp' },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) {
  process.stdout.write(USAGE)
} else {
  const people = tryOutPeople(values.workspace)
  const issuer = await startDevIssuer({
    port: Number(values.port),
    dataDir: values['data-dir'],
    people,
    audience: values.audience,
    resource: values.resource,
  })
  process.stdout.write(`issuer   ${issuer.url}\nkeys     ${issuer.jwksUrl}\n`)
  for (const { id, name } of people) process.stdout.write(`\n${name ?? id}\n${await issuer.mint(id)}\n`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void issuer.close())
}
