{{- define "evenflow.labels" -}}
app.kubernetes.io/name: evenflow
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "evenflow.name" -}}
{{ printf "%s-evenflow" .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "evenflow.selector" -}}
app.kubernetes.io/name: evenflow
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "evenflow.podLabels" -}}
{{ include "evenflow.labels" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "evenflow.configAnnotation" -}}
checksum/config: {{ toYaml .Values.config | sha256sum }}
{{- end }}

{{- define "evenflow.pod" -}}
serviceAccountName: {{ include "evenflow.name" . }}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
volumes:
  - name: config
    configMap: { name: {{ include "evenflow.name" . }} }
  - name: scratch
    emptyDir: {}
  {{- if .Values.volume.claim }}
  - name: data
    persistentVolumeClaim: { claimName: {{ .Values.volume.claim | quote }} }
  {{- end }}
  {{- range .Values.secrets.files }}
  - name: {{ printf "secret-%s" . }}
    secret: { secretName: {{ . | quote }} }
  {{- end }}
{{- end }}

{{- define "evenflow.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{ include "evenflow.reach" . }}
{{- end }}

{{/* What a container reads: configuration, secrets, volumes. */}}
{{- define "evenflow.reach" -}}
env:
  - { name: HOME, value: /tmp }
{{- with .Values.secrets.env }}
envFrom:
  {{- range . }}
  - secretRef: { name: {{ . | quote }} }
  {{- end }}
{{- end }}
volumeMounts:
  - { name: config, mountPath: /etc/evenflow, readOnly: true }
  - { name: scratch, mountPath: /tmp }
  {{- if .Values.volume.claim }}
  - { name: data, mountPath: {{ .Values.volume.mountPath | quote }} }
  {{- end }}
  {{- range .Values.secrets.files }}
  - { name: {{ printf "secret-%s" . }}, mountPath: {{ printf "/run/secrets/evenflow/%s" . | quote }}, readOnly: true }
  {{- end }}
{{- end }}

{{- define "evenflow.topic" -}}
{{ list "--kafka" .Values.stream.kafka "--topic" .Values.stream.topic "--group" .Values.stream.group "--output" .Values.output | toYaml }}
{{- end }}

{{- define "evenflow.doctor" -}}
{{- if .Values.doctor.enabled -}}
initContainers:
  - name: doctor
    {{- include "evenflow.container" . | nindent 4 }}
    args: {{ concat (list "doctor" "-c" "/etc/evenflow/evenflow.yaml") (include "evenflow.topic" . | fromYamlArray) | toJson }}
    resources: {{- toYaml .Values.stream.resources | nindent 6 }}
{{- end }}
{{- end }}

{{- define "evenflow.probes" -}}
ports:
  - { name: metrics, containerPort: {{ .Values.config.metrics.port }} }
# The process answers from its first seconds on; a start in a busy node may take longer
startupProbe: { httpGet: { path: /healthz, port: metrics }, periodSeconds: 5, failureThreshold: 24 }
livenessProbe: { httpGet: { path: /healthz, port: metrics }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 }
readinessProbe: { httpGet: { path: /readyz, port: metrics }, periodSeconds: 10, timeoutSeconds: 5 }
{{- end }}
