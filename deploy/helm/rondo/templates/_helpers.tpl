{{- define "rondo.name" -}}
{{- .Values.fullnameOverride | default .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{/*
Name, labels and annotations of an object of `component`, whose values are `own`. `suffix` is what follows the name of the
release, if that is not the component; `labels` and `annotations` are those of this object alone.
*/}}
{{- define "rondo.metadata" -}}
name: {{ include "rondo.name" .root }}{{ if hasKey . "suffix" }}{{ .suffix }}{{ else }}-{{ .component }}{{ end }}
labels: {{- include "rondo.labels" . | nindent 2 }}
{{- with include "rondo.annotations" . | fromYaml }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "rondo.annotations" -}}
{{- merge (dict) (.annotations | default dict) ((.own | default dict).annotations | default dict) .root.Values.annotations | toYaml -}}
{{- end }}

{{- define "rondo.labels" -}}
{{- $labels := include "rondo.selector" . | fromYaml }}
{{- $_ := set $labels "app.kubernetes.io/version" .root.Chart.AppVersion }}
{{- $_ := set $labels "app.kubernetes.io/managed-by" .root.Release.Service }}
{{- $_ := set $labels "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version) }}
{{- merge $labels (.labels | default dict) ((.own | default dict).labels | default dict) .root.Values.labels | toYaml -}}
{{- end }}

{{/* Never changes between versions: the selector of a Deployment cannot be updated. */}}
{{- define "rondo.selector" -}}
app.kubernetes.io/name: rondo
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Each component has an image of its own, named after its target in deploy/Dockerfile. */}}
{{- define "rondo.namedImage" -}}
{{ .root.Values.image.prefix }}{{ .component }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{- define "rondo.image" -}}
{{- if .own.image }}{{ .own.image }}{{ else }}{{ include "rondo.inRegistry" (dict "root" .root "name" (.image | default (include "rondo.namedImage" .))) }}{{ end -}}
{{- end }}

{{- define "rondo.inRegistry" -}}
{{- with .root.Values.image.registry | default (.root.Values.global | default dict).imageRegistry }}{{ trimSuffix "/" . }}/{{ end }}{{ .name -}}
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

{{/*
The URL of Postgres for the user that the password belongs to, or the URI that an operator wrote, for the owner and for services that
share its role. Kubernetes replaces $(…) by the variable before it.
*/}}
{{- define "rondo.databaseUrl" -}}
{{- $postgres := .root.Values.postgres }}
{{- if and $postgres.uri.secret (or .isOwner (not $postgres.rolePerService)) -}}
- name: POSTGRES_URI
  valueFrom:
    secretKeyRef:
      name: {{ $postgres.uri.secret }}
      key: {{ $postgres.uri.key }}
- name: DATABASE_URL
  value: $(POSTGRES_URI){{ $postgres.parameters }}
{{- else -}}
{{ include "rondo.secretEnv" (dict "root" .root "name" "POSTGRES_USER_PASSWORD" "key" .key) }}
- name: DATABASE_URL
  value: postgresql://{{ .user }}:$(POSTGRES_USER_PASSWORD)@{{ include "rondo.postgresHost" .root }}:{{ $postgres.port }}/{{ $postgres.database }}{{ $postgres.parameters }}
{{- end }}
{{- end }}

{{- define "rondo.redisUrl" -}}
{{ include "rondo.secretEnv" (dict "root" .root "name" "REDIS_PASSWORD") }}
{{- $redis := .root.Values.redis }}
{{- $isSentinel := and (gt (len $redis.sentinels) 0) (not .root.Values.bundled.enabled) }}
{{- $hosts := $isSentinel | ternary (printf "%s/%s" (join "," $redis.sentinels) $redis.primary) (printf "%s:%v" (include "rondo.redisHost" .root) $redis.port) }}
- name: REDIS_URL
  value: {{ ternary "rediss" "redis" $redis.tls }}{{ if $isSentinel }}+sentinel{{ end }}://{{ $redis.user }}:$(REDIS_PASSWORD)@{{ $hosts }}{{ with $redis.database }}/{{ . }}{{ end }}
{{- end }}

{{/* The host and port of each server, with commas between them. */}}
{{- define "rondo.natsServers" -}}
{{- $nats := .Values.nats }}
{{- if include "rondo.natsCluster" . }}{{ include "rondo.natsNodes" (dict "root" . "format" "%s:4222") }}
{{- else if and $nats.servers (not .Values.bundled.enabled) }}{{ join "," $nats.servers }}{{ else }}{{ include "rondo.natsHost" . }}:{{ $nats.port }}{{ end -}}
{{- end }}

{{/*
The name of the StatefulSet of several bundled servers, empty if there is one. It is not that of one server, whose store a cluster
could not take over.
*/}}
{{- define "rondo.natsCluster" -}}
{{- if and .Values.bundled.enabled (gt (int .Values.bundled.nats.replicas) 1) }}{{ include "rondo.name" . }}-nats-cluster{{ end -}}
{{- end }}

{{/* The host names of its servers, each in `format`, with commas between them. */}}
{{- define "rondo.natsNodes" -}}
{{- $cluster := include "rondo.natsCluster" .root }}
{{- $nodes := list }}
{{- range $index := until (int .root.Values.bundled.nats.replicas) }}
{{- $nodes = append $nodes (printf $.format (printf "%s-%d.%s" $cluster $index $cluster)) }}
{{- end }}
{{- join "," $nodes }}
{{- end }}

{{/* `user` may be a variable of the pod, as $(EXECUTOR_ID). Without `key` the service reads the password from a file. */}}
{{- define "rondo.natsUrl" -}}
{{- if .key }}
{{- include "rondo.secretEnv" (dict "root" .root "name" "NATS_PASSWORD" "key" .key) }}
{{ end -}}
- name: NATS_URL
  value: {{ ternary "tls" "nats" .root.Values.nats.tls }}://{{ .user }}{{ if .key }}:$(NATS_PASSWORD){{ end }}@{{ include "rondo.natsServers" .root }}
{{- end }}

{{- define "rondo.commonEnv" -}}
- name: HOST
  value: {{ .root.Values.listenAddress | quote }}
- name: PORT
  value: '3000'
{{ include "rondo.secretEnv" (dict "root" .root "name" "METRICS_TOKEN" "optional" true) }}
{{- with .root.Values.tracing.endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
{{ include "rondo.secretEnv" (dict "root" $.root "name" "OTEL_EXPORTER_OTLP_HEADERS" "optional" true) }}
{{- end }}
{{ include "rondo.ownEnv" . }}
{{- end }}

{{/*
What says how the network is, then those of all services that it declares, then a service's own: files/variables.json says which
it declares, and what the chart decides. One that no service declares may be read by a library, so all get it. `defaults` are
what the chart sets unless a value says otherwise.
*/}}
{{- define "rondo.variables" -}}
{{- $variables := .root.Files.Get "files/variables.json" | fromJson }}
{{- $passed := get $variables.passed .component }}
{{- $set := include "rondo.networkVariables" .root | fromYaml }}
{{- range $name, $value := .defaults | default dict }}
{{- $_ := set $set $name $value }}
{{- end }}
{{- range $name, $value := .root.Values.env }}
{{- if or (has $name $passed) (not (has $name $variables.declared)) }}
{{- $_ := set $set $name $value }}
{{- end }}
{{- end }}
{{- range $name, $value := .own.env }}
{{- $_ := set $set $name $value }}
{{- end }}
{{- toYaml $set }}
{{- end }}

{{- define "rondo.ownEnv" -}}
{{- include "rondo.env" (include "rondo.variables" . | fromYaml) }}
{{- end }}

{{/* A map of variables as a container takes them. A whole number is written as one, however large. */}}
{{- define "rondo.env" -}}
{{- range $name, $value := . }}
- name: {{ $name }}
  {{- if kindIs "map" $value }}
  {{- toYaml $value | nindent 2 }}
  {{- else }}
  value: {{ (and (kindIs "float64" $value) (eq (floor $value) $value)) | ternary (int64 $value) $value | quote }}
  {{- end }}
{{- end }}
{{- end }}

{{/* The proxies and the certificates that every service, and whatever runs in its container, goes by. */}}
{{- define "rondo.networkVariables" -}}
{{- $set := dict }}
{{- with .Values.proxy.http }}
{{- $_ := set $set "HTTP_PROXY" . }}
{{- end }}
{{- with .Values.proxy.https }}
{{- $_ := set $set "HTTPS_PROXY" . }}
{{- end }}
{{- if $set }}
{{- $inside := list "localhost" "127.0.0.1" "::1" ".svc" ".cluster.local" (printf "%s-gateway" (include "rondo.name" .)) (printf "%s-demo-model" (include "rondo.name" .)) }}
{{- $_ := set $set "NO_PROXY" (join "," (concat $inside .Values.proxy.noProxy)) }}
{{- end }}
{{- if or .Values.caBundle.configMap .Values.caBundle.secret }}
{{- $_ := set $set "NODE_EXTRA_CA_CERTS" "/run/ca/ca.crt" }}
{{- end }}
{{- toYaml $set }}
{{- end }}

{{- define "rondo.demoModel" -}}
{{- if .Values.models.demo }}
- name: DEMO_MODEL_URL
  value: http://{{ include "rondo.name" . }}-demo-model:3000
{{- end }}
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

{{/* How many executors there may be, each with a user of its own on NATS. */}}
{{- define "rondo.executorCount" -}}
{{- with .Values.toolExecutor }}{{ ternary (max .replicas .autoscaling.maxReplicas) .replicas .autoscaling.enabled }}{{ end -}}
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
{{- range $index := until (include "rondo.executorCount" . | int) }}
{{- $executor := dict "root" $ "index" $index }}
{{- $withPassword := replace "NATS_EXECUTOR_ID_PASSWORD" (include "rondo.executorPasswordKey" $executor) $user }}
{{- $users = print $users (replace "EXECUTOR_ID" (include "rondo.executorId" $executor) $withPassword) }}
{{- end }}
{{- replace $user $users $configuration }}
{{- with include "rondo.natsCluster" . }}
server_name: $NATS_SERVER_NAME
cluster {
  name: {{ . | quote }}
  host: {{ $.Values.listenAddress | quote }}
  port: 6222
  no_advertise: true
  authorization { user: "cluster", password: $NATS_CLUSTER_PASSWORD }
  routes: $NATS_ROUTES
}
{{- end }}
{{- end }}
