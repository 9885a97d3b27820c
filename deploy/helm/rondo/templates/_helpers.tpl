{{- define "rondo.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "rondo.labels" -}}
app.kubernetes.io/name: rondo
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{/* Never changes between versions: the selector of a Deployment cannot be updated. */}}
{{- define "rondo.selector" -}}
app.kubernetes.io/name: rondo
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Each component has an image of its own, named after its target in deploy/Dockerfile. */}}
{{- define "rondo.image" -}}
{{ .root.Values.image.prefix }}{{ .component }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{- define "rondo.postgresHost" -}}
{{- if .Values.bundled.enabled }}{{ include "rondo.name" . }}-postgres{{ else }}{{ .Values.postgres.host }}{{ end -}}
{{- end }}
{{- define "rondo.redisHost" -}}
{{- if .Values.bundled.enabled }}{{ include "rondo.name" . }}-redis{{ else }}{{ .Values.redis.host }}{{ end -}}
{{- end }}
{{- define "rondo.natsHost" -}}
{{- if .Values.bundled.enabled }}{{ include "rondo.name" . }}-nats{{ else }}{{ .Values.nats.host }}{{ end -}}
{{- end }}

{{/* One key of the Secret. An optional one may be missing. */}}
{{- define "rondo.secretEnv" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .root.Values.secret }}
      key: {{ .key | default .name }}
      {{- if .optional }}
      optional: true
      {{- end }}
{{- end }}

{{/* The URL of Postgres for the user that the password belongs to. Kubernetes replaces $(…) by the variable before it. */}}
{{- define "rondo.databaseUrl" -}}
{{ include "rondo.secretEnv" (dict "root" .root "name" "POSTGRES_USER_PASSWORD" "key" .key) }}
- name: DATABASE_URL
  value: postgresql://{{ .user }}:$(POSTGRES_USER_PASSWORD)@{{ include "rondo.postgresHost" .root }}:{{ .root.Values.postgres.port }}/{{ .root.Values.postgres.database }}{{ .root.Values.postgres.parameters }}
{{- end }}

{{- define "rondo.redisUrl" -}}
{{ include "rondo.secretEnv" (dict "root" .root "name" "REDIS_PASSWORD") }}
- name: REDIS_URL
  value: {{ ternary "rediss" "redis" .root.Values.redis.tls }}://:$(REDIS_PASSWORD)@{{ include "rondo.redisHost" .root }}:{{ .root.Values.redis.port }}
{{- end }}

{{/* `user` may be a variable of the pod, as $(EXECUTOR_ID). Without `key` the service reads the password from a file. */}}
{{- define "rondo.natsUrl" -}}
{{- if .key }}
{{- include "rondo.secretEnv" (dict "root" .root "name" "NATS_PASSWORD" "key" .key) }}
{{ end -}}
- name: NATS_URL
  value: {{ ternary "tls" "nats" .root.Values.nats.tls }}://{{ .user }}{{ if .key }}:$(NATS_PASSWORD){{ end }}@{{ include "rondo.natsHost" .root }}:{{ .root.Values.nats.port }}
{{- end }}

{{- define "rondo.commonEnv" -}}
- name: HOST
  value: 0.0.0.0
- name: PORT
  value: '3000'
{{ include "rondo.secretEnv" (dict "root" .root "name" "METRICS_TOKEN" "optional" true) }}
{{- with .root.Values.tracing.endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
{{ include "rondo.secretEnv" (dict "root" $.root "name" "OTEL_EXPORTER_OTLP_HEADERS" "optional" true) }}
{{- end }}
{{- include "rondo.ownEnv" . }}
{{- end }}

{{/*
A service's own variables, and those of all services that it declares: files/variables.json says which, and what the chart decides.
One that no service declares may be read by a library, so all get it.
*/}}
{{- define "rondo.ownEnv" }}
{{- $variables := .root.Files.Get "files/variables.json" | fromJson }}
{{- $passed := get $variables.passed .component }}
{{- $all := dict }}
{{- range $name, $value := .root.Values.env }}
{{- if or (has $name $passed) (not (has $name $variables.declared)) }}
{{- $_ := set $all $name $value }}
{{- end }}
{{- end }}
{{- range $name, $value := merge (dict) .own $all }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "rondo.demoModel" -}}
{{- if .Values.models.demo }}
- name: DEMO_MODEL_URL
  value: http://{{ include "rondo.name" . }}-demo-model:3000
{{- end }}
{{- end }}

{{/* All keys of the Secret of that name, if there is one, as variables. */}}
{{- define "rondo.keysOf" -}}
{{- with . }}
envFrom:
  - secretRef:
      name: {{ . }}
{{- end }}
{{- end }}

{{- define "rondo.probes" -}}
startupProbe:
  httpGet: { path: /health/live, port: http }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /health/live, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: { path: /health/ready, port: http }
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end }}

{{- define "rondo.ports" -}}
ports:
  - name: http
    containerPort: 3000
    protocol: TCP
{{- end }}

{{/* Services that need nothing of the kernel but files and connections. */}}
{{- define "rondo.confined" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "rondo.podSecurity" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "rondo.podCommon" -}}
serviceAccountName: {{ include "rondo.name" .root }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "rondo.selector" . | nindent 8 }}
{{- end }}

{{- define "rondo.writableTmp" -}}
volumeMounts:
  - name: tmp
    mountPath: /tmp
{{- end }}

{{/* Up at once; down slowly, because each worker that leaves hands its runs over to others. */}}
{{- define "rondo.scalingBehavior" -}}
scaleUp:
  stabilizationWindowSeconds: 0
scaleDown:
  stabilizationWindowSeconds: 300
  policies:
    - type: Pods
      value: 1
      periodSeconds: 60
{{- end }}

{{/* The id of an executor, which is the name of its pod and of its user on NATS. */}}
{{- define "rondo.executorId" -}}
{{ include "rondo.name" .root }}-tool-executor-{{ .index }}
{{- end }}

{{/* The key of the Secret with its password, as `npm run helm-secrets` and `npm run nats-configuration` name it. */}}
{{- define "rondo.executorPasswordKey" -}}
NATS_{{ include "rondo.executorId" . | upper | replace "-" "_" }}_PASSWORD
{{- end }}

{{/* What deploy/nats.conf grants, with a user and a password for each executor. */}}
{{- define "rondo.natsConfiguration" -}}
{{- $configuration := .Files.Get "files/nats.conf" }}
{{- $user := regexFind `(?s) {4}\{ user: "EXECUTOR_ID".*?\n {4}\} \}\n` $configuration }}
{{- $users := "" }}
{{- range $index := until (int .Values.toolExecutor.replicas) }}
{{- $executor := dict "root" $ "index" $index }}
{{- $withPassword := replace "NATS_EXECUTOR_ID_PASSWORD" (include "rondo.executorPasswordKey" $executor) $user }}
{{- $users = print $users (replace "EXECUTOR_ID" (include "rondo.executorId" $executor) $withPassword) }}
{{- end }}
{{- replace $user $users $configuration }}
{{- end }}
