{{/*
What pods of all workloads have in common. Each takes a workload as a dictionary: `root`, its `component`, its values as `own`, and
what only it needs: `base`, security contexts instead of the common ones; `volumes` and `mounts`; `secret`, a Secret whose keys
become variables; `account`, empty where its pods need no ServiceAccount of ours, and are not spread unless `isSpread`; `isForeign`, if
what runs is not Rondo.
*/}}

{{/* What is said of all pods with what is said of these: maps are merged, lists are joined, anything else is replaced. */}}
{{- define "rondo.settings" -}}
{{- $workload := . }}
{{- $all := .root.Values }}
{{- $settings := dict }}
{{- range $key := list "podLabels" "podAnnotations" "nodeSelector" "affinity" "dnsConfig" "podSecurityContext" "securityContext" }}
{{- $map := deepCopy (get (hasKey ($workload.base | default dict) $key | ternary $workload.base $all) $key) }}
{{- range $name, $value := get $workload.own $key | default dict }}
{{- $_ := set $map $name $value }}
{{- end }}
{{- range $name, $value := $map }}
{{- if kindIs "invalid" $value }}
{{- $_ := unset $map $name }}
{{- end }}
{{- end }}
{{- $_ := set $settings $key $map }}
{{- end }}
{{- range $key := list "tolerations" "topologySpreadConstraints" "hostAliases" "envFrom" "extraVolumes" "extraVolumeMounts" "initContainers" "extraContainers" }}
{{- $_ := set $settings $key (concat (get $all $key) (get $workload.own $key | default list) | default list) }}
{{- end }}
{{- range $key := list "priorityClassName" "schedulerName" "serviceAccountName" "dnsPolicy" }}
{{- $_ := set $settings $key (get $workload.own $key | default (get $all $key)) }}
{{- end }}
{{- toYaml $settings }}
{{- end }}

{{- define "rondo.podMetadata" -}}
{{- $settings := include "rondo.settings" . | fromYaml }}
metadata:
  labels: {{- merge (include "rondo.labels" . | fromYaml) $settings.podLabels | toYaml | nindent 4 }}
  {{- with merge $settings.podAnnotations (include "rondo.annotations" . | fromYaml) }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* The fields of a pod's spec but for its first container. */}}
{{- define "rondo.podSpec" -}}
{{- $settings := include "rondo.settings" . | fromYaml }}
{{- with $settings.serviceAccountName | default (hasKey . "account" | ternary .account (include "rondo.name" .root)) }}
serviceAccountName: {{ . }}
{{- end }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with concat .root.Values.image.pullSecrets ((.root.Values.global | default dict).imagePullSecrets | default list) }}
imagePullSecrets:
  {{- range . }}
  - name: {{ kindIs "map" . | ternary . (dict "name" .) | dig "name" "" }}
  {{- end }}
{{- end }}
{{- with $settings.podSecurityContext }}
securityContext: {{- toYaml . | nindent 2 }}
{{- end }}
{{- range $key := list "nodeSelector" "affinity" "tolerations" "priorityClassName" "schedulerName" "hostAliases" "dnsPolicy" "dnsConfig" "initContainers" }}
{{- with get $settings $key }}
{{ $key }}: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with include "rondo.spread" . | fromYamlArray }}
topologySpreadConstraints: {{- toYaml . | nindent 2 }}
{{- end }}
{{- $volumes := concat (include "rondo.ownVolumes" . | fromYaml).volumes (.volumes | default list) $settings.extraVolumes }}
{{- with $volumes }}
volumes: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Over the nodes where that is possible, unless said otherwise. */}}
{{- define "rondo.spread" -}}
{{- $settings := include "rondo.settings" . | fromYaml }}
{{- $selector := dict "matchLabels" (include "rondo.selector" . | fromYaml) }}
{{- $usual := dict "maxSkew" 1 "topologyKey" "kubernetes.io/hostname" "whenUnsatisfiable" "ScheduleAnyway" }}
{{- $constraints := list }}
{{- range $settings.topologySpreadConstraints | default (ternary (list $usual) (list) (or .isSpread (not (hasKey . "account")))) }}
{{- $constraints = append $constraints (merge (dict) . (dict "labelSelector" $selector)) }}
{{- end }}
{{- toYaml $constraints }}
{{- end }}

{{/* A writable /tmp, because the rest of the root is not, and the certificates of private authorities. */}}
{{- define "rondo.ownVolumes" -}}
{{- $volumes := list }}
{{- $mounts := list }}
{{- if not .isForeign }}
{{- $volumes = append $volumes (dict "name" "tmp" "emptyDir" dict) }}
{{- $mounts = append $mounts (dict "name" "tmp" "mountPath" "/tmp") }}
{{- with .root.Values.caBundle }}
{{- if or .configMap .secret }}
{{- $items := list (dict "key" .key "path" "ca.crt") }}
{{- $source := ternary (dict "configMap" (dict "name" .configMap "items" $items)) (dict "secret" (dict "secretName" .secret "items" $items)) (ne .configMap "") }}
{{- $volumes = append $volumes (merge (dict "name" "ca-bundle") $source) }}
{{- $mounts = append $mounts (dict "name" "ca-bundle" "mountPath" "/run/ca" "readOnly" true) }}
{{- end }}
{{- end }}
{{- end }}
{{- dict "volumes" $volumes "mounts" $mounts | toYaml }}
{{- end }}

{{/* The fields of a workload's first container that do not depend on what it runs. */}}
{{- define "rondo.container" -}}
{{- $settings := include "rondo.settings" . | fromYaml }}
image: {{ include "rondo.image" . }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{- with $settings.securityContext }}
securityContext: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .resources | default .own.resources }}
resources: {{- toYaml . | nindent 2 }}
{{- end }}
{{- $secret := list }}
{{- with .secret }}
{{- $secret = list (dict "secretRef" (dict "name" .)) }}
{{- end }}
{{- with concat $secret $settings.envFrom }}
envFrom: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with concat (include "rondo.ownVolumes" . | fromYaml).mounts (.mounts | default list) $settings.extraVolumeMounts }}
volumeMounts: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The containers that run beside it. */}}
{{- define "rondo.extraContainers" -}}
{{- with (include "rondo.settings" . | fromYaml).extraContainers }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{- define "rondo.podDisruptionBudget" -}}
{{- with .own.podDisruptionBudget }}
{{- if .enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{- include "rondo.metadata" $ | nindent 2 }}
spec:
  {{- if ne (toString .minAvailable) "" }}
  minAvailable: {{ .minAvailable }}
  {{- else }}
  maxUnavailable: {{ .maxUnavailable }}
  {{- end }}
  selector:
    matchLabels: {{- include "rondo.selector" $ | nindent 6 }}
{{- end }}
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
