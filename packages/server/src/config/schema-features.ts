import { MAX_PORT, MAX_TIMER_SECS } from './key-kinds.ts'
import type { ConfigKey } from './key-kinds.ts'

/** Keys for the features of the service and for its reports. */
export const FEATURE_KEYS = {
  permissions: {
    enforce_private_docs: {
      kind: 'boolean',
      default: true,
      env: 'RELAY_ENFORCE_PRIVATE_DOCS',
      doc: 'Documents are seen by owner and shares only; false opens them to the workspace.',
    },
    enforce_private_blobs: {
      kind: 'boolean',
      default: false,
      env: 'RELAY_ENFORCE_PRIVATE_BLOBS',
      doc: 'Blobs are readable only through a document that the caller may read.',
    },
  },
  recovery: {
    ring: {
      kind: 'integer',
      unit: 'count',
      default: 20,
      zero: 'refused',
      min: 1,
      max: 1000,
      env: 'RELAY_RECOVERY_RING',
      doc: 'Recovery points kept per document.',
    },
    interval_secs: {
      kind: 'integer',
      unit: 's',
      default: 600,
      zero: 'refused',
      max: MAX_TIMER_SECS,
      env: 'RELAY_RECOVERY_INTERVAL_SECS',
      doc: 'Time between recovery points of a document that is being edited.',
    },
  },
  compat: {
    editor_client: {
      kind: 'boolean',
      default: false,
      env: 'RELAY_COMPAT_EDITOR_CLIENT',
      doc: 'Answers as shipped editor clients expect: list envelope, their `version` member, keyed form.',
    },
  },
  share: {
    link_base: {
      kind: 'text',
      format: 'link-url',
      default: null,
      derived: '<origin>/share, or the console when it is enabled',
      env: 'RELAY_SHARE_LINK_BASE',
      doc: 'Address that share links open; `#` and the token are added.',
    },
  },
  console: {
    enabled: {
      kind: 'boolean',
      default: false,
      env: 'RELAY_CONSOLE_ENABLED',
      doc: 'Serves the console, a page in which people read and write documents with a browser.',
    },
    path: {
      kind: 'text',
      format: 'page-path',
      default: '/console',
      env: 'RELAY_CONSOLE_PATH',
      required: true,
      doc: 'Path of the console on the main listener.',
    },
    client_id: {
      kind: 'text',
      format: 'text',
      default: null,
      env: 'RELAY_CONSOLE_CLIENT_ID',
      doc: 'Client id of the console at the issuer: a public client with PKCE.',
    },
    scope: {
      kind: 'text',
      format: 'text',
      default: 'openid offline_access',
      env: 'RELAY_CONSOLE_SCOPE',
      required: true,
      doc: 'Scopes that the console asks for, with spaces between them.',
    },
    authorize_params: {
      kind: 'text',
      format: 'authorize-params',
      default: null,
      env: 'RELAY_CONSOLE_AUTHORIZE_PARAMS',
      doc: 'Further parameters of the authorization request, e.g. `audience=service-relay`, with `&` between them.',
    },
    connect_origins: {
      kind: 'list',
      format: 'http-origins',
      default: [],
      env: 'RELAY_CONSOLE_CONNECT_ORIGINS',
      doc: 'Origins beside the relay, the issuer and the object store that the console may send requests to.',
    },
    dir: {
      kind: 'text',
      format: 'path',
      default: null,
      derived: 'packages/console/dist of this release',
      env: 'RELAY_CONSOLE_DIR',
      doc: 'Folder with the built console.',
    },
  },
  metrics: {
    expose: {
      kind: 'choice',
      choices: ['local', 'public', 'off'],
      default: 'local',
      env: 'RELAY_METRICS_EXPOSE',
      doc: 'Serves /metrics on a loopback listener, on the main one without credential, or not at all.',
    },
    port: {
      kind: 'integer',
      unit: 'port',
      default: 9878,
      zero: 'free port',
      max: MAX_PORT,
      env: 'RELAY_METRICS_PORT',
      doc: 'Port of the loopback metrics listener.',
    },
  },
  log: {
    level: {
      kind: 'choice',
      choices: ['debug', 'info', 'warn', 'error'],
      default: 'info',
      env: 'RELAY_LOG_LEVEL',
      doc: 'Least severity that is logged.',
    },
    format: {
      kind: 'choice',
      choices: ['json', 'pretty'],
      default: 'json',
      env: 'RELAY_LOG_FORMAT',
      doc: 'One JSON object per line, or lines for a human reader.',
    },
  },
} as const satisfies Record<string, Record<string, ConfigKey>>
