import { diagram } from './diagram-text.ts'
import type { Graph } from './graph.ts'

/** Diagrams of real systems as people draw them, with realistic labels. */
export const realGraphs: readonly Graph[] = [
  diagram(
    'web shop',
    'TB',
    `browser = (Browser)
    app = (Mobile app)
    cdn = Content delivery network
    gateway = API gateway
    auth = Identity service
    catalogue = Catalogue service
    search = Search service
    cart = Cart service
    order = Order service
    payment = Payment service
    stock = Inventory service
    ship = Shipping service
    mail = Notification service
    bus = Event bus
    catalogueDb = Catalogue database (PostgreSQL)
    index = Search index
    cartCache = Cart cache (Redis)
    orderDb = Order database (PostgreSQL)
    stockDb = Inventory database
    psp = Payment provider
    carrier = Carrier API
    smtp = Mail relay
    browser -> cdn
    browser -> gateway: HTTPS
    app -> gateway: HTTPS
    gateway -> auth: verify token
    gateway -> catalogue
    gateway -> search
    gateway -> cart
    gateway -> order
    catalogue -> catalogueDb
    search -> index
    catalogue -> bus: item changed
    bus -> search: reindex
    cart -> cartCache
    cart -> stock: reserve
    order -> orderDb
    order -> payment: charge
    payment -> psp
    order -> bus: order placed
    bus -> stock
    bus -> ship
    bus -> mail
    stock -> stockDb
    ship -> carrier
    mail -> smtp
    ship -> bus: shipped`,
  ),
  diagram(
    'delivery pipeline',
    'LR',
    `push = (Developer pushes a commit)
    lint = Lint and format
    types = Type check
    unit = Unit tests
    build = Build image
    scan = Scan image for known vulnerabilities
    sign = Sign image
    registry = Container registry
    integration = Integration tests
    load = Load tests
    staging = Deploy to staging
    smoke = Smoke tests
    approve = (Release manager approves)
    canary = Canary, five percent of traffic
    watch = Watch error budget
    full = Full rollout
    rollback = Roll back
    notify = Tell the channel
    push -> lint
    push -> types
    push -> unit
    lint -> build
    types -> build
    unit -> build
    build -> scan
    scan -> sign
    sign -> registry
    registry -> staging
    staging -> integration
    staging -> load
    staging -> smoke
    integration -> approve
    load -> approve
    smoke -> approve
    approve -> canary: approved
    approve -> notify: refused
    canary -> watch
    watch -> full: budget kept
    watch -> rollback: budget spent
    full -> notify
    rollback -> notify
    rollback -> staging: redeploy`,
  ),
  diagram(
    'sign-in',
    'TB',
    `user = (User)
    spa = Single-page application
    as = Authorization server
    consent = Consent screen
    mfa = Second factor
    code = Authorization code
    token = Access token and refresh token
    api = Resource server
    jwks = Key set endpoint
    revoke = Revocation list
    user -> spa: clicks sign in
    spa -> as: authorize with code challenge
    as -> mfa: password accepted
    mfa -> consent
    consent -> code
    code -> spa: redirect
    spa -> as: code and verifier
    as -> token
    token -> spa
    spa -> api: bearer
    api -> jwks: fetch keys
    api -> revoke: check
    jwks -> as
    revoke -> as`,
  ),
  diagram(
    'order states',
    'TB',
    `new = (Draft)
    submitted = Submitted
    reserved = Stock reserved
    paid = Paid
    failed = Payment failed
    packed = Packed
    shipped = Shipped
    delivered = (Delivered)
    cancelled = (Cancelled)
    returned = Return requested
    inspected = Inspected
    refunded = (Refunded)
    new -> new: edit
    new -> submitted: submit
    submitted -> reserved: stock found
    submitted -> cancelled: no stock
    reserved -> paid: charged
    reserved -> failed: refused
    failed -> reserved: retry
    failed -> failed: wait
    failed -> cancelled: third failure
    paid -> packed
    packed -> shipped
    shipped -> delivered
    shipped -> returned: refused at the door
    delivered -> returned: within 30 days
    returned -> inspected
    inspected -> refunded: accepted
    inspected -> delivered: sent back
    paid -> refunded: cancelled by customer`,
  ),
  diagram(
    'connection states',
    'TB',
    `closed = CLOSED
    listen = LISTEN
    synSent = SYN-SENT
    synReceived = SYN-RECEIVED
    established = ESTABLISHED
    finWait1 = FIN-WAIT-1
    finWait2 = FIN-WAIT-2
    closeWait = CLOSE-WAIT
    closing = CLOSING
    lastAck = LAST-ACK
    timeWait = TIME-WAIT
    closed -> listen: passive open
    closed -> synSent: active open
    listen -> synReceived: SYN
    listen -> synSent: send
    listen -> closed: close
    synSent -> synReceived: SYN
    synSent -> established: SYN and ACK
    synSent -> closed: close
    synReceived -> established: ACK of SYN
    synReceived -> finWait1: close
    synReceived -> listen: RST
    established -> finWait1: close
    established -> closeWait: FIN
    finWait1 -> finWait2: ACK of FIN
    finWait1 -> closing: FIN
    finWait1 -> timeWait: FIN and ACK
    finWait2 -> timeWait: FIN
    closing -> timeWait: ACK of FIN
    closeWait -> lastAck: close
    lastAck -> closed: ACK of FIN
    timeWait -> closed: timeout`,
  ),
  diagram(
    'cluster',
    'TB',
    `ingress = Ingress controller
    web = Deployment web
    api = Deployment api
    worker = Deployment worker
    cron = CronJob nightly-report
    svcWeb = Service web
    svcApi = Service api
    cfg = ConfigMap settings
    secret = Secret credentials
    hpa = HorizontalPodAutoscaler
    pvc = PersistentVolumeClaim data
    sts = StatefulSet postgres
    svcDb = Service postgres
    queue = StatefulSet rabbitmq
    svcQueue = Service rabbitmq
    metrics = Metrics server
    prom = Prometheus
    graf = Grafana
    alert = Alertmanager
    pager = (On-call engineer)
    ingress -> svcWeb
    ingress -> svcApi
    svcWeb -> web
    svcApi -> api
    web -> svcApi
    api -> svcDb
    api -> svcQueue
    worker -> svcQueue
    worker -> svcDb
    cron -> svcDb
    svcDb -> sts
    svcQueue -> queue
    sts -> pvc
    cfg -> web
    cfg -> api
    cfg -> worker
    secret -> api
    secret -> worker
    secret -> cron
    metrics -> hpa
    hpa -> api: scales
    hpa -> worker: scales
    prom -> metrics
    prom -> api: scrapes
    prom -> sts: scrapes
    graf -> prom
    prom -> alert
    alert -> pager`,
  ),
  diagram(
    'lakehouse',
    'LR',
    `crm = CRM export
    erp = ERP change log
    clicks = Click stream
    sensors = Sensor readings
    partners = Partner files (SFTP)
    kafka = Streaming platform
    landing = Landing zone
    bronze = Bronze tables
    quality = Data quality checks
    quarantine = Quarantine
    silver = Silver tables
    dims = Customer dimension
    facts = Sales facts
    features = Feature store
    gold = Gold marts
    catalog = Data catalogue
    lineage = Lineage
    bi = (Dashboards)
    ml = (Model training)
    serving = (Model serving)
    finance = (Finance close)
    crm -> landing
    erp -> kafka
    clicks -> kafka
    sensors -> kafka
    partners -> landing
    kafka -> bronze
    landing -> bronze
    bronze -> quality
    quality -> silver: passed
    quality -> quarantine: failed
    quarantine -> quality: corrected
    silver -> dims
    silver -> facts
    silver -> features
    dims -> gold
    facts -> gold
    gold -> bi
    gold -> finance
    features -> ml
    ml -> serving
    features -> serving
    serving -> clicks: recommendations
    bronze -> catalog
    silver -> catalog
    gold -> catalog
    catalog -> lineage`,
  ),
  diagram(
    'compiler',
    'TB',
    `source = (Source files)
    lexer = Lexer
    parser = Parser
    ast = Abstract syntax tree
    resolve = Name resolution
    types = Type inference
    diagnostics = Diagnostics
    hir = High-level intermediate representation
    borrow = Borrow checker
    mir = Mid-level intermediate representation
    opt = Optimiser
    inline = Inliner
    dce = Dead code elimination
    llvm = LLVM IR
    codegen = Code generator
    objects = Object files
    linker = Linker
    std = Standard library
    binary = (Executable)
    source -> lexer
    lexer -> parser
    parser -> ast
    parser -> diagnostics
    ast -> resolve
    resolve -> types
    resolve -> diagnostics
    types -> diagnostics
    types -> hir
    hir -> borrow
    borrow -> diagnostics
    borrow -> mir
    hir -> mir
    mir -> opt
    opt -> inline
    inline -> dce
    dce -> opt: until nothing changes
    opt -> llvm
    llvm -> codegen
    codegen -> objects
    objects -> linker
    std -> linker
    linker -> binary`,
  ),
]
